import { expect, test } from 'vitest';
import { spacingFor } from '../../lib/pace/budget.ts';

test('a fractional rate costs nothing: its interval is unchanged', () => {
  expect(spacingFor(9.8).intervalMs).toBeCloseTo(1000 / 9.8);
});

test('a whole rate is slowed by one percent, which pays for the lateness that is made up for', () => {
  expect(spacingFor(10)).toEqual({ intervalMs: 101, toleranceMs: 5 });
});

test('the later calls may leave, the wider they are spaced; at high rates none leaves half an interval early', () => {
  expect(spacingFor(10, 10)).toEqual({ intervalMs: 102, toleranceMs: 5 });
  expect(spacingFor(1_000)).toEqual({ intervalMs: 1.01, toleranceMs: 0.505 });
});
