import { expect, test } from 'vitest';
import { createTokenWatch } from '../../lib/cli/jobs/work-here.ts';
import type { PlatformEvent } from '../../lib/platform/events.ts';

const fixed = { PLATFORM_BASE_URL: 'https://acme.example.com', PLATFORM_TOKEN: 'a-token' };
const ofSecret = { PLATFORM_BASE_URL: 'https://acme.example.com', PLATFORM_TOKEN_SECRET: 'of-acme' };

const refusal: PlatformEvent = {
  kind: 'request',
  operation: 'runFunction',
  attempt: 1,
  status: 401,
  durationMs: 1,
  sizeBytes: 0,
};
const outage = { sinceMs: 0, probeAtMs: 0 };

test('a token that cannot change stops the work when the platform refuses it (401) once', () => {
  const { hooks, signal, refusal: said } = createTokenWatch(fixed);

  hooks.observe({ ...refusal, status: 403 });
  expect(said()).toBeUndefined();
  hooks.observe(refusal);

  expect(signal.aborted).toBe(true);
  expect(said()).toContain('acme.example.com refused the token in PLATFORM_TOKEN (401)');
});

test('a token that the platform refused to another worker stops nothing', () => {
  for (const settings of [fixed, ofSecret]) {
    const { hooks, signal } = createTokenWatch(settings);

    hooks.onUnavailable({ ...outage, cause: 'refused token' });

    expect(signal.aborted).toBe(false);
  }
});

test('a token that may have been changed stops the work only once the platform refuses the new token too', () => {
  const { hooks, signal } = createTokenWatch(ofSecret);

  hooks.observe(refusal);
  hooks.onUnavailable({ ...outage, cause: 'refused token' });
  expect(signal.aborted).toBe(false);
  hooks.observe(refusal);

  expect(signal.aborted).toBe(true);
});
