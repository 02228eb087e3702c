import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterCall, dueAtMs, spacingFor } from '../../lib/pace/gcra.ts';
import { scaled } from '../scale.ts';

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

test('a call that left a little late does not delay those that follow', () => {
  const spacing = spacingFor(10);
  const tatMs = afterCall(0, 1_000, spacing);

  const onTime = afterCall(tatMs, dueAtMs(tatMs, spacing), spacing);
  const late = afterCall(tatMs, dueAtMs(tatMs, spacing) + 4, spacing);

  expect(late).toBe(onTime);
});

test('no rate, however late calls leave, lets a sliding second hold more than the rate', () => {
  const rates = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.double({ min: 0.1, max: 60, noNaN: true }));
  const lateness = fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0, max: 40, noNaN: true })), {
    minLength: 100,
    maxLength: 200,
  });
  fc.assert(
    fc.property(rates, lateness, (rate, lates) => {
      const spacing = spacingFor(rate);
      const most = Math.ceil(rate);
      const left: number[] = [];
      let tatMs = Number.NEGATIVE_INFINITY;
      let nowMs = 0;

      for (const lateMs of lates) {
        nowMs = Math.max(nowMs, dueAtMs(tatMs, spacing)) + lateMs;
        tatMs = afterCall(tatMs, nowMs, spacing);
        left.push(nowMs);
      }

      for (const [index, atMs] of left.entries()) {
        expect((left[index + most] ?? Number.POSITIVE_INFINITY) - atMs).toBeGreaterThanOrEqual(1000);
      }
    }),
    { numRuns: scaled(60, 300) },
  );
});
