import { describe, expect, test } from 'vitest';
import { watchSteps } from '../../lib/pace/clock.ts';
import { createFindTime, createTableClock } from '../../lib/pace/table-clock.ts';
import { awaitDate } from '../../lib/table/open-table.ts';

const isKnown = (clock: ReturnType<typeof createTableClock>) =>
  clock.uncertaintyMs() < Number.POSITIVE_INFINITY;

/** A clock that is `offMs` ahead of the table's, and responses that take 10 ms there and 10 ms back. */
function createClocks(offMs: number) {
  const state = { tableMs: 1_000_000_000_000, offMs, steadyMs: 0 };
  const reports: { readonly offMs: number; readonly table: string; readonly here: string }[] = [];
  const clock = createTableClock({
    now: () => state.tableMs + state.offMs,
    steady: () => state.steadyMs,
    sleep: async (ms) => pass(ms),
    onClockOff: (off) => reports.push(off),
  });
  const pass = (ms: number) => {
    state.tableMs += ms;
    state.steadyMs += ms;
  };
  /** `setByMs`: the clock is set by this number of milliseconds during the request. */
  const respond = (setByMs = 0) => {
    const seen = awaitDate(
      () => state.tableMs + state.offMs,
      () => state.steadyMs,
    );
    pass(10);
    const dateMs = Math.floor(state.tableMs / 1000) * 1000;
    state.offMs += setByMs;
    pass(10);
    clock.saw(seen(dateMs));
  };
  /** Responds every `everyMs` for `ms`. */
  const respondFor = (ms: number, everyMs: number) => {
    for (let atMs = 0; atMs < ms; atMs += everyMs) {
      respond();
      pass(everyMs - 20);
    }
  };
  const errorMs = () => clock.now() - state.tableMs;
  return { clock, state, pass, respond, respondFor, errorMs, reports };
}

describe('a clock that agrees with the table', () => {
  test('is not changed at all, whenever within a second the responses come', () => {
    const { respondFor, errorMs, clock } = createClocks(0);

    respondFor(10_000, 43);

    expect([errorMs(), clock.clockErrorMs()]).toEqual([0, 0]);
  });

  test('is used before the first response of the table', () => {
    const { clock, errorMs } = createClocks(0);

    expect([errorMs(), clock.clockErrorMs(), isKnown(clock)]).toEqual([0, 0, false]);
  });
});

describe('a wrong clock', () => {
  test.each([100, -100, 2_000, -2_000, 300_000, -300_000, 86_400_000])(
    '(by %i ms) is corrected to within a few milliseconds after some seconds of responses',
    (offMs) => {
      const { respondFor, errorMs } = createClocks(offMs);

      respondFor(5_000, 43);

      expect(Math.abs(errorMs())).toBeLessThan(25);
    },
  );

  test('(by minutes) is corrected to within half a second after three responses, and not before', () => {
    const { respond, errorMs } = createClocks(300_000);

    respond();
    respond();
    const before = errorMs();
    respond();

    expect(before).toBe(300_000);
    expect(Math.abs(errorMs())).toBeLessThan(520);
  });

  test.each([40, -40, 300, -300, 480, -900])(
    '(by %i ms) adds its error to the uncertainty after a single response, even if this response agrees with the clock',
    (offMs) => {
      const { clock, respond, errorMs } = createClocks(offMs);

      respond();

      expect(clock.clockErrorMs()).toBeGreaterThanOrEqual(Math.abs(errorMs()) - 9);
    },
  );

  test('(by minutes) is reported once, with the time of the table and the time of this process', () => {
    const { respondFor, reports } = createClocks(300_000);

    respondFor(5_000, 43);

    expect(reports).toHaveLength(1);
    expect(Math.abs((reports[0]?.offMs ?? 0) - 300_000)).toBeLessThan(600);
    expect(reports[0]?.table.slice(0, 16)).toBe('2001-09-09T01:46');
    expect(reports[0]?.here.slice(0, 16)).toBe('2001-09-09T01:51');
  });
});

test('a clock that is set is detected immediately by the steady clock, and corrected after some responses', () => {
  const { clock, state, respondFor, errorMs } = createClocks(0);
  respondFor(5_000, 43);

  state.offMs = -2_000;
  clock.now();
  const wasKnown = isKnown(clock);
  respondFor(5_000, 43);

  expect(wasKnown).toBe(false);
  expect(Math.abs(errorMs())).toBeLessThan(25);
});

test('a clock that is set back while a response is on its way is corrected by the first response of the next second', () => {
  const { pass, respond, errorMs } = createClocks(0);
  pass(870);

  respond(-200);
  pass(105);
  respond();

  expect(Math.abs(errorMs())).toBeLessThan(60);
});

test('a clock that is set is reported as set, although the response that shows it corrects most of the change', () => {
  const { clock, pass, respond, respondFor } = createClocks(300);
  respondFor(3_000, 43);
  pass(480);
  const wasSet = watchSteps(clock);

  respond(-300);

  expect([wasSet(), wasSet()]).toEqual([true, false]);
});

test('a process that was suspended for an hour keeps its offset, with more uncertainty', () => {
  const { clock, pass, respondFor, errorMs } = createClocks(100);
  respondFor(5_000, 43);
  const before = errorMs();

  pass(3_600_000);

  expect(errorMs()).toBe(before);
  expect(clock.clockErrorMs()).toBeGreaterThan(50);
});

test('a drifting clock is tracked', () => {
  const { state, respondFor, errorMs } = createClocks(0);

  for (let second = 0; second < 600; second += 1) {
    respondFor(1_000, 97);
    state.offMs += 0.05;
  }

  expect(Math.abs(errorMs())).toBeLessThan(30);
});

describe('a wrong Date in a response of the table', () => {
  /** A response whose `Date` is off by `wrongMs`, beside a process whose clock is off by 300 ms. */
  const wrong = ({ clock, state }: ReturnType<typeof createClocks>, wrongMs: number) => {
    const atMs = state.tableMs + state.offMs;
    const dateMs = Math.floor((state.tableMs + wrongMs) / 1000) * 1000;
    clock.saw({ dateMs, sentMs: atMs - 20, receivedMs: atMs });
  };

  test.each([563_000, -563_000, 4_000, -2_000])(
    'that is wrong by %i ms changes nothing, even twice in a row',
    (wrongMs) => {
      const clocks = createClocks(300);
      clocks.respondFor(5_000, 43);
      const before = clocks.errorMs();

      for (let round = 0; round < 12; round += 1) {
        wrong(clocks, wrongMs);
        wrong(clocks, wrongMs);
        clocks.respond();
      }

      expect(Math.abs(clocks.errorMs() - before)).toBeLessThan(3);
    },
  );

  test('that never changes, as from a cache, has no effect however often it comes', () => {
    const clocks = createClocks(300);
    clocks.respondFor(5_000, 43);
    const cachedMs = clocks.state.tableMs - 90_000;

    for (let answer = 0; answer < 200; answer += 1) {
      wrong(clocks, cachedMs - clocks.state.tableMs);
      clocks.pass(43);
    }

    expect(Math.abs(clocks.errorMs())).toBeLessThan(25);
  });

  test('is believed if three in a row advance together, and dropped once the right ones return', () => {
    const clocks = createClocks(0);
    clocks.respondFor(5_000, 43);

    for (let answer = 0; answer < 30; answer += 1) {
      wrong(clocks, 60_000);
      clocks.pass(43);
    }
    const followedMs = clocks.errorMs();
    clocks.respondFor(3_000, 43);

    expect(Math.abs(followedMs - 60_000)).toBeLessThan(1_000);
    expect(Math.abs(clocks.errorMs())).toBeLessThan(25);
  });
});

test('a server whose Date is sometimes slightly late does not add to the uncertainty of the clock', () => {
  const { clock, state, respondFor, errorMs } = createClocks(0);
  respondFor(10_000, 43);

  // Shortly after a second begins, the server's responses still have the previous one.
  const atMs = state.tableMs + 30;
  clock.saw({ dateMs: Math.floor(atMs / 1000) * 1000 - 1000, sentMs: atMs, receivedMs: atMs + 20 });

  expect([errorMs(), clock.clockErrorMs()]).toEqual([0, 0]);
});

describe('requests for the time', () => {
  /** A process whose clock is off and that requests the time by `look`. */
  const lookingWith = (
    offMs: number,
    look?: (respond: (setByMs?: number) => void, looks: number) => Promise<void>,
  ) => {
    const clocks = createClocks(offMs);
    const looked = { looks: 0 };
    const find = createFindTime({
      clock: clocks.clock,
      read: async () => {
        looked.looks += 1;
        await (look === undefined ? clocks.respond() : look(clocks.respond, looked.looks));
      },
      backgroundSleep: () => new Promise(() => {}),
    });
    return { ...clocks, looked, find };
  };

  test.each([0, 300, -700, 300_000])(
    'find it in little more than a second if the clock is wrong by %i ms',
    async (offMs) => {
      const { find, errorMs, state, looked } = lookingWith(offMs);

      await find();

      expect(state.steadyMs).toBeLessThan(1_200);
      expect(looked.looks).toBeLessThan(50);
      expect(Math.abs(errorMs())).toBeLessThan(30);
    },
  );

  test('are not repeated unless the clock is set', async () => {
    const { find, looked, state, errorMs } = lookingWith(300);
    await find();
    const first = looked.looks;
    await find();
    const second = looked.looks;

    state.offMs = -5_000;
    await find();

    expect(second).toBe(first);
    expect(looked.looks).toBeGreaterThan(first);
    expect(Math.abs(errorMs())).toBeLessThan(30);
  });

  test.each([2, 3, 20])(
    'find it although the clock is set back by a month during request %i',
    async (setAt) => {
      const { find, errorMs } = lookingWith(300, async (respond, looks) =>
        respond(looks === setAt ? -31 * 86_400_000 : 0),
      );

      await find();

      expect(Math.abs(errorMs())).toBeLessThan(30);
    },
  );

  test('are given up after some seconds if the clock is set during every request', async () => {
    const { find, state } = lookingWith(0, async (respond) => respond(-60_000));

    await find();

    expect(state.steadyMs).toBeLessThan(6_000);
  });

  test('end soon if responses have no Date, and are not repeated', async () => {
    const { find, looked, state } = lookingWith(300, async () => undefined);

    await find();
    await find();

    expect(looked.looks).toBe(3);
    expect(state.steadyMs).toBeLessThan(200);
  });

  test('rethrow the error of an unavailable table to the caller', async () => {
    const { find, looked } = lookingWith(300, () => Promise.reject(new Error('unavailable')));

    await expect(find()).rejects.toThrow('unavailable');

    expect(looked.looks).toBe(2);
  });
});
