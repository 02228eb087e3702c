import { expect, test } from 'vitest';
import { trackTime, watchSteps } from '../../lib/pace/clock.ts';
import { PaceWaitError } from '../../lib/pace/pace.ts';

/** A clock at 1,000 ms, with a monotonic clock beside it. */
function clockSet() {
  const state = { by: 100 };
  const clock = { now: () => 900 + state.by, sleep: async () => undefined, steady: () => 900 };
  return { state, clock };
}

test('if the clock is set, a stored time is still as far ahead as before', () => {
  const { state, clock } = clockSet();
  const [now, later] = [trackTime(clock), trackTime(clock, 1_500)];

  state.by = 350;

  expect([now(), later(), clock.now()]).toEqual([1_250, 1_750, 1_250]);
});

test('the error of a call says whether it would wait too long or the budget is paused', () => {
  expect(new PaceWaitError(1_500.2, 1_000).message).toBe(
    "the call's turn is in 1501 ms, but it may wait at most 1000 ms",
  );
  expect(new PaceWaitError(1_500, 1_000, 'paused').message).toBe(
    'paused by `pace --pause`: nothing is sent until `pace --resume`',
  );
});

test('a clock that moves by more than 50 ms relative to a monotonic clock is reported as set, once', () => {
  const { state, clock } = clockSet();
  const wasSet = watchSteps(clock);
  const after = (byMs: number) => {
    state.by += byMs;
    return wasSet();
  };

  expect([after(0), after(50), after(51), after(0), after(-51)]).toEqual([false, false, true, false, true]);
});

test('a clock is never reported as set if there is no monotonic clock to compare it with', () => {
  const { state, clock } = clockSet();
  const wasSet = watchSteps({ now: clock.now });

  state.by = 5_000;

  expect(wasSet()).toBe(false);
});
