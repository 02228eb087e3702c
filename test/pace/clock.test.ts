import { expect, test } from 'vitest';
import { trackTime, watchSteps } from '../../lib/pace/clock.ts';
import { PaceWaitError } from '../../lib/pace/pace.ts';

/** A clock at 1,000 ms, with a monotonic clock beside it. */
function clockSet() {
  const state = { by: 100 };
  const clock = { now: () => 900 + state.by, sleep: async () => undefined, steady: () => 900 };
  return { state, clock };
}

test('a moment is as far ahead as before if the clock is set', () => {
  const { state, clock } = clockSet();
  const [now, later] = [trackTime(clock), trackTime(clock, 1_500)];

  state.by = 350;

  expect([now(), later(), clock.now()]).toEqual([1_250, 1_750, 1_250]);
});

test('the error of a call that would wait too long differs from that of a paused budget', () => {
  expect(new PaceWaitError(1_500.2, 1_000).message).toBe(
    "the call's turn is in 1501 ms, but it may wait at most 1000 ms",
  );
  expect(new PaceWaitError(1_500, 1_000, 'paused').message).toBe(
    'paused by `pace --pause`: nothing is sent until `pace --resume`',
  );
});

test('a clock that moves by more than 50 ms relative to a monotonic one was set, once', () => {
  const { state, clock } = clockSet();
  const wasSet = watchSteps(clock);
  const after = (byMs: number) => {
    state.by += byMs;
    return wasSet();
  };

  expect([after(0), after(50), after(51), after(0), after(-51)]).toEqual([false, false, true, false, true]);
});

test('a clock without a monotonic one beside it never counts as set', () => {
  const { state, clock } = clockSet();
  const wasSet = watchSteps({ now: clock.now });

  state.by = 5_000;

  expect(wasSet()).toBe(false);
});
