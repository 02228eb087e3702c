import { expect, test } from 'vitest';
import { emptyBudget, fullSpacing } from '../../lib/pace/budget.ts';

/** The budget of one process, whose clock cannot drift from others. */
const alone = { ...emptyBudget, driftMs: 0 };

test('a fractional rate costs nothing: its interval is exact', () => {
  expect(fullSpacing(9.6, emptyBudget).intervalMs).toBeCloseTo(1000 / 9.6);
});

test('an integer rate is spaced two percent wider, so that late calls can catch up', () => {
  expect(fullSpacing(10, alone)).toEqual({ intervalMs: 102, toleranceMs: 5 });
});

test('the later calls may leave, the wider they are spaced; at high rates no call leaves half an interval early', () => {
  expect(fullSpacing(10, emptyBudget)).toEqual({ intervalMs: 103, toleranceMs: 5 });
  expect(fullSpacing(1_000, alone)).toEqual({ intervalMs: 1.02, toleranceMs: 0.51 });
});
