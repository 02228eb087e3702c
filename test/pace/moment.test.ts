import { expect, test } from 'vitest';
import { momentOf } from '../../lib/pace/moment.ts';
import { PaceWaitError } from '../../lib/pace/pace-wait-error.ts';

/** A clock at 1,000 ms that was set by 100 ms before, and then by `by`. */
function clockSet() {
  const state = { by: 100 };
  const clock = { now: () => 900 + state.by, sleep: async () => undefined, setByMs: () => state.by };
  return { state, clock };
}

test('a moment is as far away as before once the clock was set', () => {
  const { state, clock } = clockSet();
  const [now, later] = [momentOf(clock), momentOf(clock, 1_500)];

  state.by = 350;

  expect([now(), later(), clock.now()]).toEqual([1_250, 1_750, 1_250]);
});

test('the error of a call that would wait too long differs from that of a paused budget', () => {
  expect(new PaceWaitError(1_500.2, 1_000).message).toBe(
    'the call would wait 1501 ms for its turn, longer than the limit of 1000 ms',
  );
  expect(new PaceWaitError(1_500, 1_000, 'paused').message).toBe(
    'paused by `pace --pause`: nothing is sent until `pace --resume`',
  );
});
