import { expect, test } from 'vitest';
import { emptyBudget, fullSpacing } from '../../lib/pace/budget.ts';

/** The budget of a single process, whose clock cannot drift from others. */
const alone = { ...emptyBudget, driftMs: 0 };

test('calls at a fractional rate are spaced by exactly its interval', () => {
  expect(fullSpacing(9.6, emptyBudget).intervalMs).toBeCloseTo(1000 / 9.6);
});

test('calls at an integer rate are spaced two percent wider, so that late calls can catch up', () => {
  expect(fullSpacing(10, alone)).toEqual({ intervalMs: 102, toleranceMs: 5 });
});

test('calls are spaced wider if clocks may drift; at high rates a call may be late by at most half an interval', () => {
  expect(fullSpacing(10, emptyBudget)).toEqual({ intervalMs: 103, toleranceMs: 5 });
  expect(fullSpacing(1_000, alone)).toEqual({ intervalMs: 1.02, toleranceMs: 0.51 });
});
