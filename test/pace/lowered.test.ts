import { expect, test } from 'vitest';
import { isProbing, lastProbeMs, nextProbeMs, probeAtMs } from '../../lib/pace/lowered.ts';

const lowered = { rate: 7, atMs: 1_000 };
const spacing = { intervalMs: 100, toleranceMs: 5 };

test('the platform is probed from a 429 until a success', () => {
  expect(isProbing(undefined)).toBe(false);
  expect(isProbing(lowered)).toBe(true);
  expect(isProbing({ ...lowered, succeededMs: 2_000 })).toBe(false);
});

test.each([
  ['when that is known', { ...lowered, probeMs: 3_000 }, 500_000, 3_000],
  ['at the end of a pause of up to a minute', lowered, 61_000, 61_000],
  ['15 s after the 429 in a longer pause', lowered, 61_001, 16_000],
  ['15 s after the last refused probe', { ...lowered, refusedAtMs: 20_000 }, 80_001, 35_000],
] as const)('a probe leaves %s', (_, given, pauseEndsMs, atMs) => {
  expect(probeAtMs(given, pauseEndsMs)).toBe(atMs);
});

test('probes of unknown outcome are a second apart, or an interval where that is longer', () => {
  expect(nextProbeMs(5_000.4, spacing)).toBe(6_000);
  expect(nextProbeMs(5_000, { ...spacing, intervalMs: 3_000 })).toBe(8_000);
  expect(lastProbeMs(6_000, spacing)).toBe(5_000);
  expect(lastProbeMs(8_000, { ...spacing, intervalMs: 3_000 })).toBe(5_000);
});
