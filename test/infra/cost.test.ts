import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { costOf, itemized, page, YEAR } from './cost/page.ts';
import { type Priced, prices } from './cost/prices.ts';
import { costOfType } from './cost/resources.ts';
import { FILESET, networks, sizes } from './cost/sizes.ts';
import { full, minimal, propertiesOf, resourcesOf, templateOf, within } from './instances.ts';

test('docs/cost.md is what `npm run bench -- cost` computes', () => {
  expect(readFileSync('docs/cost.md', 'utf8')).toBe(page());
});

test.each(sizes)('$name costs at most $maxUsd USD on demand, even after a year', (size) => {
  expect(costOf(size).onDemand).toBeLessThanOrEqual(size.maxUsd);
  expect(costOf(size, YEAR).onDemand).toBeLessThanOrEqual(size.maxUsd);
});

const instances = [...sizes, ...networks].map(({ instance }) => instance);
const certificates = { ...minimal, name: 'trusting', certificates: 'test/infra/cost/certificates.pem' };
const templates = [
  ...instances,
  certificates,
  minimal,
  full,
  within,
  { ...minimal, name: 'shown', dashboard: true },
].map(templateOf);
const types = new Set(templates.flatMap((template) => resourcesOf(template).map(([, { Type }]) => Type)));

test.each(networks)('$name costs at most $maxUsd USD on demand', (size) => {
  expect(costOf(size).onDemand).toBeLessThanOrEqual(size.maxUsd);
});

test('each type of resource in a template has a price, or a reason why it is free', () => {
  expect([...types].sort()).toEqual(Object.keys(costOfType).sort());
});

test('each price applies to a type of resource, and is an item of the cost', () => {
  const paid = Object.values(costOfType).flatMap((cost) => ('paid' in cost ? cost.paid : []));

  expect([...new Set<Priced>(paid)].sort()).toEqual(Object.keys(prices).sort());
  expect([...itemized].sort()).toEqual(Object.keys(prices).sort());
});

test('the dashboard exists if the rate is above 20 requests a second, or if configured; its queries always exist', () => {
  const dashboardsOf = (settings: object) => {
    const template = templateOf({ ...minimal, ...settings });
    expect(propertiesOf(template, 'AWS::Logs::QueryDefinition').length).toBeGreaterThan(5);
    return propertiesOf(template, 'AWS::CloudWatch::Dashboard').length;
  };

  expect([{}, { rate: 20 }, { rate: 21 }].map(dashboardsOf)).toEqual([0, 0, 1]);
  expect([{ dashboard: true }, { rate: 21, dashboard: false }].map(dashboardsOf)).toEqual([1, 0]);
});

test('the cost of nightly snapshots is computed for the configuration that docs/deploy.md shows', () => {
  const [, shown = ''] = /```json instances\n(.+?)```/s.exec(readFileSync('docs/deploy.md', 'utf8')) ?? [];
  const [, nightly] = sizes;
  const { instances } = JSON.parse(shown.replaceAll('5ab50524-9b3d-4a75-b88a-f20ea274b5d8', FILESET));

  expect(instances).toEqual([nightly?.instance]);
});

test('docs/deploy.md has the computed costs, and README has the cost of nightly snapshots', () => {
  const table = readFileSync('docs/deploy.md', 'utf8');

  for (const size of sizes) {
    const { onDemand, afterFree } = costOf(size);
    expect(table).toContain(`| $${onDemand.toFixed(2)} | $${afterFree.toFixed(2)} |`);
  }
  const [, nightly] = sizes;
  expect(readFileSync('README.md', 'utf8')).toContain(
    `from $${nightly && costOf(nightly).onDemand.toFixed(2)} a month`,
  );
});
