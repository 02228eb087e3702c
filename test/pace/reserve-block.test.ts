import { describe, expect, test } from 'vitest';
import {
  type Budget,
  type BudgetItem,
  createBudgetView,
  createMemoryBudget,
  createUsageReporter,
  emptyBudget,
  lineStartMs,
} from '../../lib/pace/budget.ts';
import { trackTime } from '../../lib/pace/clock.ts';
import { createAcceptanceTracker, reserveBlock } from '../../lib/pace/reserve-block.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { learnedTo, refusedAt } from './throttled.ts';
import { createVirtualClock } from './virtual-clock.ts';

type Line = Parameters<typeof reserveBlock>[1];

const punctual = { aheadMs: 0, lateMs: 10, followers: 0 };

type Given = Partial<Pick<Line, 'rate' | 'maxWaitMs' | 'reserve'>> & {
  /** How many calls wait for a slot. Default: two. */
  readonly waiting?: number;
  readonly budget?: Partial<Budget>;
  /** How long each request to the item takes. Default: no time. */
  readonly responseMs?: number;
  readonly clockErrorMs?: number;
  /** Changes to the budget that another worker stores just before this worker's first change. */
  readonly overtaking?: Partial<Budget>;
  readonly isUnavailable?: boolean;
};

/** A worker at 10 requests a second: a block spans two slots of 103 ms. */
function createWorker({ budget, responseMs = 0, clockErrorMs = 0, ...given }: Given = {}) {
  const { overtaking, isUnavailable, waiting = 2, ...options } = given;
  const clock = { ...createVirtualClock(), clockErrorMs: () => clockErrorMs };
  const memory = createMemoryBudget({ ...emptyBudget, ...budget });
  const set = (some: Partial<Budget> = {}) => memory.change('set', (each) => ({ ...each, ...some }));
  const readAt: number[] = [];
  const item: BudgetItem = {
    async read() {
      readAt.push(clock.now());
      if (responseMs > 0) await clock.sleep(responseMs);
      return memory.read();
    },
    async change(act, next) {
      if (isUnavailable) throw new TableError('try', { kind: 'busy', code: 'ThrottlingException' });
      if (overtaking !== undefined) {
        next(await memory.read());
        await set(overtaking);
      }
      return memory.change(act, next);
    },
  };
  const [usage, acceptance] = [createUsageReporter(), createAcceptanceTracker(clock)];
  const view = createBudgetView(item, clock);
  const setBack: string[] = [];
  const line: Line = {
    ...{ rate: 10, maxWaitMs: Number.POSITIVE_INFINITY, reserve: 'batch' },
    ...options,
    ...{ clock, view, usage, acceptance, onSetBack: () => void setBack.push('set back') },
  };
  const reserve = (forecast = punctual, calledAt = trackTime(clock)) => {
    const request = {
      calledAt,
      signal: undefined,
      demand: () => ({ waiting, arrived: 2 }),
      forecast: () => forecast,
    };
    return clock.finish(
      reserveBlock(request, line).then(
        (block) => ({ block, error: undefined }),
        (error: unknown) => ({ block: undefined, error }),
      ),
    );
  };
  const pass = (ms: number) => clock.finish(clock.sleep(ms));
  const succeed = (throttleEpoch: number) => {
    const slot = { atMs: 0, waitedMs: 0 };
    acceptance.left(slot, throttleEpoch);
    acceptance.ended(slot, true);
  };
  return { clock, reserve, pass, succeed, usage, set, read: memory.read, readAt, setBack };
}

describe('a reservation of slots', () => {
  test('begins as soon as it can be used, and has a slot for each waiting call', async () => {
    const { reserve, read } = createWorker();

    const { block } = await reserve();

    expect(block).toEqual({
      ...{ state: 'checked', slots: [0, 103], lateMs: 10, toleranceMs: 5, throttleEpoch: 0 },
    });
    expect(await read()).toMatchObject({ tatMs: 206, incidents: 0, rate: 10, tally: { granted: 2 } });
  });

  test.each([
    ['one slot for each waiting call', { waiting: 3 }, 0, 3],
    ['more if more calls will follow', { waiting: 3 }, 2, 5],
    ['never more than 250 ms of the rate', { waiting: 1_000 }, 0, 12],
    ['one if the rate is slow', { waiting: 3, rate: 2 }, 0, 1],
    ['one for a worker that takes one at a time', { waiting: 3, reserve: 'single' }, 0, 1],
    ['one if no call waits any more', { waiting: 0 }, 0, 1],
  ] as const)('has %s', async (_, given, followers, size) => {
    const { reserve } = createWorker({ rate: 50, ...given });

    expect((await reserve({ ...punctual, followers })).block?.slots).toHaveLength(size);
  });

  test('has slots that stay usable for the time of a response longer, plus the time that the worker asks for', async () => {
    const { reserve, read } = createWorker({ responseMs: 40 });

    const { block } = await reserve({ ...punctual, aheadMs: 30.5 });

    expect(block).toMatchObject({ slots: [40, 143], lateMs: 10 + 40 + 30.5 });
    expect((await read()).tatMs).toBe(40 + 206 + 40 + 30.5);
  });

  test('begins at the end of the line, and must be checked again before use if this is far ahead', async () => {
    const { reserve, read } = createWorker({ budget: { tatMs: 5_000 } });

    expect((await reserve()).block).toMatchObject({ slots: [5_000, 5_103], state: 'held' });
    expect((await read()).tatMs).toBe(5_206);
  });

  test('leaves a gap before and after it if the clock may be wrong', async () => {
    const { reserve, read } = createWorker({ clockErrorMs: 3 });

    const { block } = await reserve();

    expect((await read()).tatMs).toBe(206 + 6);
    expect(block).toMatchObject({ slots: [3, 106] });
  });

  test('begins a second from now if the end of the line is implausibly far ahead, and sets the line back', async () => {
    const given = { maxWaitMs: 20_000, budget: { tatMs: 80_001, longestWaitMs: 5_000, incidents: 3 } };
    const { reserve, read, setBack } = createWorker(given);

    // The block begins a second later, when no worker holds earlier slots.
    expect((await reserve()).block).toMatchObject({ slots: [1_000, 1_103], throttleEpoch: 4 });
    expect(await read()).toMatchObject({ tatMs: 1_206, incidents: 4, longestWaitMs: 20_000 });
    expect(setBack).toEqual(['set back']);
  });

  test('stores the maximum time that any process lets its calls wait', async () => {
    const workers = [
      createWorker({ maxWaitMs: 20_000 }),
      createWorker({ maxWaitMs: 20_000, budget: { longestWaitMs: 20_001 } }),
      createWorker(),
    ];

    for (const { reserve } of workers) await reserve();

    const budgets = await Promise.all(workers.map(({ read }) => read()));
    expect(budgets.map(({ longestWaitMs }) => longestWaitMs)).toEqual([20_000, 20_001, 1_200_000]);
  });

  test('stores this maximum again if the stored one is older than half a minute, and a lower one once the stored one has expired', async () => {
    const workers = [-30_000, -30_001, -80_001].map((longestWaitAtMs, at) =>
      createWorker({
        maxWaitMs: at < 2 ? 20_000 : 5_000,
        budget: { longestWaitMs: 20_000, longestWaitAtMs },
      }),
    );

    for (const { reserve } of workers) await reserve();

    const budgets = await Promise.all(workers.map(({ read }) => read()));
    expect(budgets.map(({ longestWaitAtMs, longestWaitMs }) => [longestWaitAtMs, longestWaitMs])).toEqual([
      [-30_000, 20_000],
      [0, 20_000],
      [0, 5_000],
    ]);
  });
});

test('the next slot is at the end of the line, or at the next probe during throttling; an end that is implausibly far ahead is ignored', () => {
  const line = { maxWaitMs: 20_000, nowMs: 0 };
  const throttle = refusedAt(0, { nextMs: 900 });

  const hour = { ...emptyBudget, longestWaitMs: 3_600_000 };

  expect(lineStartMs(emptyBudget, line)).toBeUndefined();
  expect(lineStartMs({ ...emptyBudget, tatMs: 80_000 }, line)).toBe(80_000);
  expect(lineStartMs({ ...emptyBudget, tatMs: 80_001 }, line)).toBeUndefined();
  expect(lineStartMs({ ...hour, tatMs: 3_660_000 }, line)).toBe(3_660_000);
  expect(lineStartMs({ ...hour, tatMs: 3_660_001 }, line)).toBeUndefined();
  const later = { ...line, nowMs: 3_660_001 };
  expect(lineStartMs({ ...hour, tatMs: 4_000_000 }, later)).toBeUndefined();
  expect(lineStartMs({ ...hour, longestWaitAtMs: 1, tatMs: 4_000_000 }, later)).toBe(4_000_000);
  expect(lineStartMs({ ...emptyBudget, tatMs: 500, throttle }, line)).toBe(900);
  expect(lineStartMs({ ...emptyBudget, tatMs: 500, throttle: learnedTo(7, 0) }, line)).toBe(500);
});

describe('a call that needs a slot', () => {
  test('is refused if it would wait longer than it may, and the error says how long it would wait', async () => {
    const { reserve, clock, pass, read } = createWorker({ budget: { tatMs: 10_005 }, maxWaitMs: 5_000 });
    await pass(500);
    const calledAt = trackTime(clock);
    await pass(1_000);

    const { error } = await reserve(punctual, calledAt);

    expect(error).toMatchObject({ name: 'PaceWaitError', waitMs: 8_500, maxWaitMs: 5_000 });
    expect(await read()).toMatchObject({ tatMs: 10_005, tally: emptyBudget.tally });
  });

  test.each([
    ['a line that was long', { tatMs: 60_000 }],
    ['a pause', { pausedAtMs: 0 }],
  ] as const)(
    'is refused because of %s if this was read at most a second ago, and is read again otherwise',
    async (_, seen) => {
      const { reserve, pass, set, readAt } = createWorker({ budget: seen, maxWaitMs: 5_000 });
      const first = await reserve();
      await set({ pausedAtMs: undefined, tatMs: 0 });

      await pass(1_000);
      const second = await reserve();
      await pass(1);
      const third = await reserve();

      expect([first.error, second.error]).toMatchObject([
        { name: 'PaceWaitError' },
        { name: 'PaceWaitError' },
      ]);
      expect(third.block).toMatchObject({ state: 'checked' });
      expect(readAt).toEqual([0, 1_001]);
    },
  );
});

describe('a worker whose reservation is overtaken by another write', () => {
  test('reserves the slots that follow the other reservation', async () => {
    const { reserve, read } = createWorker({ overtaking: { tatMs: 150 } });

    expect((await reserve()).block).toMatchObject({ slots: [150, 253] });
    expect(await read()).toMatchObject({ tatMs: 356, tally: { granted: 2 } });
  });

  test.each([
    ['a pause', { pausedAtMs: 1 }],
    ['a line that is too long', { tatMs: 60_000 }],
  ] as const)('reserves nothing if the other write stored %s', async (_, overtaking) => {
    const { reserve, read } = createWorker({ overtaking, maxWaitMs: 5_000 });

    expect((await reserve()).error).toMatchObject({ name: 'PaceWaitError' });
    expect(await read()).toMatchObject({ ...overtaking, tally: emptyBudget.tally });
  });
});

test('the usage of a worker is kept for a later report if the table does not respond', async () => {
  const { reserve, usage } = createWorker({ isUnavailable: true });
  usage.add({ used: 5 });

  expect((await reserve()).error).toMatchObject({ name: 'TableError' });
  expect(usage.reportOf(0)).toEqual({ ...emptyBudget.tally, used: 5 });
});

describe('while the platform refuses calls', () => {
  const throttle = refusedAt(0, { rate: 28, nextMs: 30_000 });
  const refusing = { tatMs: 500, incidents: 1, throttle };

  test('a worker reads the budget every five seconds, then more often, and reserves one slot when the probe is due', async () => {
    const { reserve, readAt, read, clock } = createWorker({ rate: 40, budget: refusing });

    const { block } = await reserve();

    expect(readAt.slice(0, 5).map(Math.round)).toEqual([0, 5_000, 10_000, 14_999, 18_748]);
    expect(readAt.slice(-4).map(Math.round)).toEqual([29_401, 29_651, 29_901, 29_995]);
    expect(clock.now()).toBe(29_995);
    // The end of the line is unchanged.
    expect(await read()).toMatchObject({ tatMs: 500, throttle: { probedAtMs: 30_000, nextMs: 31_000 } });
    expect(block).toMatchObject({ slots: [30_000], throttleEpoch: 1 });
  });

  test('a worker whose call was accepted restarts the line after the last probe, without reading the budget again', async () => {
    const probing = refusedAt(-500, { rate: 5, probedAtMs: 0, nextMs: 1_000 });
    const { reserve, read, succeed, readAt } = createWorker({ budget: { ...refusing, throttle: probing } });
    succeed(1);

    const { block } = await reserve();

    // The next slot at 0.95 of 5 requests a second, after a probe at 0.
    expect(block?.slots).toEqual([expect.closeTo(210.526, 3)]);
    expect(await read()).toMatchObject({
      tatMs: expect.closeTo(2 * 210.526, 2),
      throttle: { kind: 'learned', rate: 4.75, at: { atMs: 0 } },
    });
    expect(readAt).toEqual([0]);
  });

  test('a waiting worker learns immediately that its own call was accepted', async () => {
    const { reserve, read, succeed, readAt, clock } = createWorker({ budget: refusing });
    void clock.sleep(1_000).then(() => succeed(1));

    await reserve();

    expect(clock.now()).toBe(1_000);
    expect((await read()).throttle).toMatchObject({ kind: 'learned' });
    expect(readAt).toEqual([0]);
  });

  test('one of two workers probes, and the other waits for the next probe', async () => {
    const { reserve, read, clock } = createWorker({
      budget: { ...refusing, throttle: refusedAt(0) },
      overtaking: { throttle: refusedAt(0, { nextMs: 1_000 }) },
    });

    const { block } = await reserve();

    expect([block?.slots, clock.now()]).toEqual([[1_000], 995]);
    expect((await read()).throttle).toMatchObject({ nextMs: 2_000 });
  });

  test('an accepted call does not restart a line that another accepted call has restarted', async () => {
    const restarted = { tatMs: 700, throttle: learnedTo(28, 5) };
    const { reserve, read, succeed } = createWorker({ budget: refusing, overtaking: restarted });
    succeed(1);

    expect((await reserve()).block?.slots[0]).toBe(700);
    expect((await read()).throttle).toEqual(restarted.throttle);
  });
});
