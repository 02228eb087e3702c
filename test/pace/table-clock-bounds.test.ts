import { describe, expect, test } from 'vitest';
import {
  type ClockOff,
  createTableClock,
  type DateSeen,
  type TableClock,
} from '../../lib/pace/table-clock.ts';

/** A clock that says `nowMs`, beside one that is never set. */
function clockAt(nowMs: number) {
  const state = { nowMs, steadyMs: 0 };
  const reports: ClockOff[] = [];
  const clock = createTableClock({
    now: () => state.nowMs,
    steady: () => state.steadyMs,
    sleep: async () => undefined,
    onClockOff: (off) => reports.push(off),
  });
  return { state, clock, reports };
}

/** Shows a clock the same response as often as it takes to be believed, whatever was known. */
function sawThrice(clock: TableClock, seen: DateSeen) {
  for (let answer = 1; answer <= 3; answer += 1) clock.saw(seen);
}

/**
 * A clock after two responses that bound the table's time to between `leastMs` and `mostMs` after the time here: each
 * bounds it to a second and the time it took.
 */
function clockWithin(leastMs: number, mostMs: number) {
  const { clock } = clockAt(10_000);
  clock.saw({ dateMs: 10_000 + leastMs, sentMs: 9_900, receivedMs: 10_000 });
  clock.saw({ dateMs: 9_000, sentMs: 10_000 - mostMs, receivedMs: 10_000 });
  return clock;
}

describe('a clock that agrees with what was seen', () => {
  test.each([
    [0, 30],
    [-30, 0],
  ])('to between %i and %i ms is left alone', (leastMs, mostMs) => {
    expect(clockWithin(leastMs, mostMs).now()).toBe(10_000);
  });

  test('again, after it was corrected, is left alone again', () => {
    const { clock } = clockAt(5_500);
    sawThrice(clock, { dateMs: 5_000, sentMs: 3_000, receivedMs: 3_000 });
    const corrected = clock.now();

    for (const atMs of [5_500, 6_500, 7_500])
      clock.saw({ dateMs: Math.floor(atMs / 1000) * 1000, sentMs: atMs, receivedMs: atMs });

    expect([corrected, clock.now()]).toEqual([8_000, 5_500]);
  });
});

describe('the doubt', () => {
  test.each([
    ['nothing for a clock that agrees to within 40 ms', -16, 24, 0],
    ['what it may be off beyond 9 ms for one that agrees to within more', -16, 25, 16],
    ['half of what is open beyond 9 ms for one that was corrected', 84, 124, 11],
    ['nothing for one that was corrected to within 18 ms', 91, 109, 0],
  ])('is %s', (_, leastMs, mostMs, doubtMs) => {
    expect(clockWithin(leastMs, mostMs).doubtMs()).toBe(doubtMs);
  });
});

test('the next second begins when the middle of the bounds does', () => {
  const { clock } = clockAt(10_400);
  const before = clock.untilSecondMs();

  clock.saw({ dateMs: 10_000, sentMs: 10_390, receivedMs: 10_400 });

  // Between 400 ms before and 610 ms after the time here.
  expect([before, clock.untilSecondMs()]).toEqual([600, 495]);
});

test('bounds that are 25 ms apart are taken together; further apart, the new ones change nothing', () => {
  const uncertainty = (apartMs: number) => {
    const { clock } = clockAt(1_296);
    clock.saw({ dateMs: 1_000, sentMs: 1_500, receivedMs: 1_500 });
    clock.saw({ dateMs: 1_796 + apartMs, sentMs: 1_296, receivedMs: 1_296 });
    return clock.uncertaintyMs();
  };

  expect([uncertainty(25), uncertainty(26)]).toEqual([25, 1_000]);
});

describe('a clock that is a minute off', () => {
  const seen = { dateMs: 40_000, sentMs: 100_500, receivedMs: 100_500 };

  test('is reported', () => {
    const { clock, reports } = clockAt(100_500);

    sawThrice(clock, seen);

    expect(reports.map(({ offMs }) => offMs)).toEqual([60_000]);
  });

  test('is corrected where nobody wants to know', () => {
    const clock = createTableClock({ now: () => 100_500, sleep: async () => undefined });

    sawThrice(clock, seen);

    expect(clock.now()).toBe(40_500);
  });
});
