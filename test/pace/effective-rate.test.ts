import { describe, expect, test } from 'vitest';
import { effectiveRate, effectiveSpacing } from '../../lib/pace/effective-rate.ts';
import type { Lowered } from '../../lib/pace/lowered.ts';

/** At a configured rate of 10 a second; what was lowered was lowered at 0. */
const rateAt = (nowMs: number, lowered: Omit<Lowered, 'atMs'>): number =>
  effectiveRate(10, { ...lowered, atMs: 0 }, nowMs);

test('the rate is the configured one if nothing has lowered it', () => {
  expect(effectiveRate(10, undefined, 0)).toBe(10);
});

describe('until a call succeeds, the rate', () => {
  test.each([
    ['is the lowered one, also by a clock that is behind', -60_000, 7],
    ['is the lowered one for half a minute', 29_999, 7],
    ['rises by 2 % of the configured rate after that', 30_000, 7.2],
    ['is the configured one after 15 such steps', 450_000, 10],
    ['never exceeds the configured one', 3_600_000, 10],
  ])('%s', (_, nowMs, rate) => {
    expect(rateAt(nowMs, { rate: 7 })).toBeCloseTo(rate, 9);
  });

  test('rises half a minute after the last refused probe', () => {
    expect(rateAt(49_999, { rate: 7, refusedAtMs: 20_000 })).toBe(7);
    expect(rateAt(50_000, { rate: 7, refusedAtMs: 20_000 })).toBeCloseTo(7.2, 9);
  });

  test('is at least a twentieth of the configured one', () => {
    expect(rateAt(1_000, { rate: 0.003 })).toBe(0.5);
  });
});

describe('after a success, the rate', () => {
  const succeededMs = 1_000;

  test.each([
    ['stays at the first lowering', { rate: 7 }, 20_000, 7],
    ['stays there if it had recovered to 99 %', { rate: 6.93 }, 20_000, 6.93],
    ['begins at the second lowering', { rate: 4.9 }, 1_000, 4.9],
    ['has risen half of the way after a second', { rate: 4.9 }, 2_000, 5.775],
    ['is just below where the platform refused after two', { rate: 4.9 }, 3_000, 6.65],
    ['rises no further than that', { rate: 4.9 }, 10_000, 6.65],
    ['does not rise before it, by a clock that is behind', { rate: 4.9 }, 500, 4.9],
    ['is tried at a tenth more if a probe was refused', { rate: 3.5, refused: 1 }, 1_000, 5.5],
    ['is the configured one where that is less', { rate: 6.65, refused: 1 }, 1_000, 10],
    ['takes no refused probe for one', { rate: 3.5, refused: 0 }, 10_000, 4.75],
    ['is a tenth less if only the pause was long', { rate: 3.5, expectedMs: 800 }, 1_000, 4.5],
    ['is at least a twentieth', { rate: 0.003 }, 1_000, 0.5],
  ] as const)('%s', (_, lowered, nowMs, rate) => {
    expect(rateAt(nowMs, { ...lowered, succeededMs })).toBeCloseTo(rate, 9);
  });
});

describe('a low limit is believed for a while, and then the rate', () => {
  // A success then leads to 1.1 a second; a step of 0.2 a second comes on top after half a minute.
  const low: Omit<Lowered, 'atMs'> = { rate: 0.7, refused: 1, succeededMs: 1_000 };

  test.each([
    ['stays for half a minute after the last 429', low, 30_000, 1.1 + 0.2],
    ['doubles every 5 seconds after that', low, 35_000, 2.2 + 0.2],
    ['doubles up to 55 % of the configured rate', low, 45_000, 5.5 + 0.2],
    ['stays for 10 s after a late success', { ...low, succeededMs: 40_000 }, 50_000, 1.1 + 0.2],
    ['doubles after those', { ...low, succeededMs: 40_000 }, 55_000, 2.2 + 0.2],
    ['doubles from a twentieth at least', { rate: 0.003, succeededMs: 1_000 }, 35_000, 1 + 0.2],
    ['stays where it is above 55 % already', { rate: 7, succeededMs: 1_000 }, 45_000, 7 + 0.2],
  ] as const)('%s', (_, lowered, nowMs, rate) => {
    expect(rateAt(nowMs, lowered)).toBeCloseTo(rate, 9);
  });
});

describe('the spacing', () => {
  const lowest = { rate: 0, atMs: 0 };

  test.each([
    ['of the configured rate', 10, {}, 101],
    ['pays for calls that leave late', 10, { lateMs: 20 }, 103],
    ['is at most 10 s at a lowered rate', 0.2, { lowered: lowest }, 10_000],
    ['is at most that of the configured rate where this is longer', 0.05, { lowered: lowest }, 20_000],
  ] as const)('%s', (_, configured, facts, intervalMs) => {
    expect(effectiveSpacing(configured, { lowered: undefined, nowMs: 0, ...facts }).intervalMs).toBeCloseTo(
      intervalMs,
      9,
    );
  });
});
