import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filesetId, resourcesOf, templateOf } from './instances.ts';

/** The typical instance of docs/deploy.md. */
const typical = {
  name: 'acme',
  baseUrl: 'https://acme.example.com',
  tokenParameter: '/platform-sync/acme/token',
  rate: 2,
  schedules: [
    { source: 'calculations', cron: '0 2 * * ? *' },
    { source: 'cards' },
    { source: 'files', cron: '0 3 * * ? *', filesets: [filesetId] },
  ],
  alarms: { email: 'data@acme.example.com' },
};

/** US dollars a month of a metric that an alarm evaluates, beyond ten that every account has. */
const USD_OF_METRIC = 0.1;

/** What requests and storage cost, by docs/cost.md: they do not depend on the template. */
const USD_OF_USE = 1.03;

test('a typical instance costs at most 5 USD a month, and docs/cost.md counts its alarms', () => {
  const resources = resourcesOf(templateOf(typical)).map(([, resource]) => resource);
  const alarms = resources.filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm');
  const metrics = alarms.reduce((sum, { Properties: { Metrics = [{ MetricStat: {} }] } }) => {
    return sum + (Metrics as { MetricStat?: object }[]).filter(({ MetricStat }) => MetricStat).length;
  }, 0);

  expect(readFileSync('docs/cost.md', 'utf8')).toContain(`${alarms.length} on ${metrics} metrics`);
  expect(resources.filter(({ Type }) => Type === 'AWS::SecretsManager::Secret')).toEqual([]);
  expect((metrics - 10) * USD_OF_METRIC + USD_OF_USE).toBeLessThanOrEqual(5);
});
