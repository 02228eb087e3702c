import { describe, expect, test } from 'vitest';
import { afterRefusal, type Budget, emptyBudget, fullSpacing, lineSpacing } from '../../lib/pace/budget.ts';
import { learnedTo, refusedAt } from './throttled.ts';

describe('the spacing of slots in the line', () => {
  test.each([
    ['pays for calls that leave late, and for machines', emptyBudget, 20.6],
    ['is that of a cap that is lower', { ...emptyBudget, capRate: 40 }, 25.75],
    ['is that of the configured rate if a cap is higher', { ...emptyBudget, capRate: 80 }, 20.6],
    ['is that of a lowered rate', { ...emptyBudget, throttle: learnedTo(35, 41_999) }, 1030 / 35],
  ])('%s', (_, budget, intervalMs) => {
    expect(lineSpacing(50, budget, 41_999).intervalMs).toBeCloseTo(intervalMs, 9);
  });

  test('at the full rate depends on an operator’s cap, but not on throttling', () => {
    const budget: Budget = { ...emptyBudget, capRate: 40, throttle: learnedTo(35, 41_999) };

    expect(fullSpacing(50, budget).intervalMs).toBeCloseTo(25.75, 9);
  });
});

describe('a 429', () => {
  const refusal = { rate: 50, nowMs: 10_000, retryAfterMs: 0, hasSucceeded: false };

  test('voids the reserved slots that were not due yet, and counts only the used slots', () => {
    const reserved = { ...emptyBudget, tatMs: 10_200, tally: { ...emptyBudget.tally, granted: 100 } };

    expect(afterRefusal(reserved, refusal)).toMatchObject({
      tatMs: 10_200,
      incidents: 1,
      throttle: { kind: 'refused', rate: 50, granted: 90, refusals: 1, nextMs: 11_000 },
    });
  });

  test('that a probe gets continues the throttling, unless another call is known to have succeeded', () => {
    const budget = { ...emptyBudget, incidents: 3, throttle: refusedAt(9_000) };

    expect(afterRefusal(budget, refusal)).toMatchObject({ incidents: 4, throttle: { refusals: 2 } });
    expect(afterRefusal(budget, { ...refusal, hasSucceeded: true }).throttle).toMatchObject({ refusals: 1 });
  });

  test('lowers the rate starting from an operator’s cap, if there is one', () => {
    expect(afterRefusal({ ...emptyBudget, capRate: 10 }, refusal).throttle?.rate).toBe(10);
  });
});
