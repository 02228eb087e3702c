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

  test('is at least a twentieth of the configured one', () => {
    expect(rateAt(1_000, { rate: 0.003 })).toBe(0.5);
  });
});

describe('after a success, the rate', () => {
  const succeededMs = 1_000;

  test.each([
    ['stays at the first lowering', { rate: 7 }, 20_000, 7],
    ['begins at the second lowering', { rate: 4.9 }, 1_000, 4.9],
    ['is just below where the platform refused after two', { rate: 4.9 }, 3_000, 6.65],
    ['is tried at a tenth more if a probe was refused', { rate: 3.5, refused: 1 }, 1_000, 5.5],
    ['is at least a twentieth', { rate: 0.003 }, 1_000, 0.5],
  ] as const)('%s', (_, lowered, nowMs, rate) => {
    expect(rateAt(nowMs, { ...lowered, succeededMs })).toBeCloseTo(rate, 9);
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
