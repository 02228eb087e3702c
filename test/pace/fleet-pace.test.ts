import { describe, expect, test } from 'vitest';
import { type Budget, type BudgetItem, createMemoryBudget } from '../../lib/pace/budget.ts';
import { createFleetPace, createProcessPace } from '../../lib/pace/fleet-pace.ts';
import { openFleetPace } from '../../lib/pace/lazy-pace.ts';
import { PaceWaitError } from '../../lib/pace/pace.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { paceSuite } from './pace-suite.ts';
import { learnedTo } from './throttled.ts';
import { createVirtualClock } from './virtual-clock.ts';

paceSuite('the pace of a fleet of one', (options) =>
  createFleetPace({ ...options, item: createMemoryBudget() }),
);

/** A budget item that counts its requests and can be made unavailable. */
function createItem() {
  const memory = createMemoryBudget();
  const state = { isUnavailable: false, reads: 0, writes: 0 };
  const reach = async <T>(act: () => Promise<T>): Promise<T> => {
    if (state.isUnavailable) throw new TableError('try', { kind: 'busy', code: 'ThrottlingException' });
    return act();
  };
  const item: BudgetItem = {
    ...memory,
    read: () => {
      state.reads += 1;
      return reach(memory.read);
    },
    change: (...given) => {
      state.writes += 1;
      return reach(() => memory.change(...given));
    },
  };
  const set = (some: Partial<Budget>) => memory.change('set', (budget) => ({ ...budget, ...some }));
  return { item, state, set };
}

/** A pace with such an item. */
function paced(options: Omit<Parameters<typeof createFleetPace>[0], 'item'>) {
  const clock = createVirtualClock();
  const over = createItem();
  return { clock, ...over, pace: createFleetPace({ ...clock, ...options, item: over.item }) };
}

describe('while the table is unavailable', () => {
  test('no call leaves, one warning is logged, and calls leave as soon as the table is available', async () => {
    const reported: string[] = [];
    const { clock, pace, state } = paced({
      rate: 9.5,
      concurrency: 8,
      onTableUnavailable: (cause) => reported.push(String(cause)),
      onTableAvailable: () => reported.push('back'),
    });
    state.isUnavailable = true;
    const calls = Promise.all([1, 2].map(() => pace.run(async () => clock.now())));
    await clock.run(59_500);
    const whileUnavailable = pace.counts();

    state.isUnavailable = false;
    await clock.run();

    expect(whileUnavailable).toMatchObject({ granted: 0, used: 0, effectiveRate: 9.5 });
    expect(await calls).toEqual([60_000, expect.closeTo(60_103, -1)]);
    expect(reported).toEqual(['TableError: try: busy, ThrottlingException', 'back']);
  });

  test('a call that may not wait that long is refused, and then no longer reads the table', async () => {
    const { clock, pace, state } = paced({ rate: 1, concurrency: 8, maxWaitMs: 5_000 });
    state.isUnavailable = true;

    const calls = Promise.allSettled([1, 2, 3].map(() => pace.run(async () => 'left')));
    await clock.run();

    expect((await calls).map((call) => (call.status === 'rejected' ? call.reason : 'left'))).toEqual(
      [1, 2, 3].map(() => new PaceWaitError(1_000, 5_000)),
    );
    // One read immediately, and one after each of five seconds.
    expect(state).toMatchObject({ reads: 6, writes: 0 });
  });

  test.each([
    { kind: 'bad-table', table: 'paces', expected: 'a table', got: 'none' },
    { kind: 'denied', code: 'AccessDeniedException' },
  ] as const)('permanently ($kind), calls fail at once', async (failure) => {
    const clock = createVirtualClock();
    const read = () => Promise.reject(new TableError('try', failure));
    const pace = createFleetPace({ ...clock, item: { ...createItem().item, read }, rate: 1, concurrency: 1 });

    await expect(pace.run(async () => 'left')).rejects.toBeInstanceOf(TableError);
  });

  test('a 429 stops this process immediately, and the fleet once the table is available', async () => {
    const { clock, pace, item, state } = paced({ rate: 9.5, concurrency: 1 });
    await clock.finish(
      pace.run(async (slot) => {
        state.isUnavailable = true;
        await pace.throttled(slot, 60_000);
        state.isUnavailable = false;
      }),
    );

    const next = await clock.finish(pace.run(async () => clock.now()));

    expect(next).toBeGreaterThan(59_900);
    expect(await item.read()).toMatchObject({ incidents: 1 });
  });
});

test('a call that is aborted while its slot is reserved does not let the next reservation run concurrently', async () => {
  const clock = createVirtualClock();
  const { item } = createItem();
  let [running, max] = [0, 0];
  const slow: BudgetItem = {
    ...item,
    async change(...given) {
      running += 1;
      max = Math.max(max, running);
      await clock.sleep(100);
      running -= 1;
      return item.change(...given);
    },
  };
  const pace = createFleetPace({ ...clock, item: slow, rate: 10, concurrency: 2 });
  const stop = new AbortController();

  const stopped = pace.run(async () => 'left', { signal: stop.signal });
  const next = pace.run(async () => 'left');
  const expectation = expect(stopped).rejects.toThrow('enough');
  await clock.run(50);
  stop.abort(new Error('enough'));
  await clock.run();
  await expectation;

  await expect(next).resolves.toBe('left');
  expect(max).toBe(1);
  expect(pace.counts()).toMatchObject({ used: 1 });
});

describe('a paused budget', () => {
  test('refuses a call that may wait only a short time, without reserving a slot', async () => {
    const { pace, set } = paced({ rate: 10, concurrency: 1, maxWaitMs: 20_000 });
    await set({ pausedAtMs: 0 });

    const call = pace.run(async () => 'left');

    await expect(call).rejects.toMatchObject({ name: 'PaceWaitError', waitMs: 60_000 });
    await expect(call).rejects.toThrow('paused by `pace --pause`');
    expect(pace.counts().granted).toBe(0);
  });

  test('lets a call leave once it is resumed, if the call may wait', async () => {
    const { clock, pace, set } = paced({ rate: 10, concurrency: 1 });
    await set({ pausedAtMs: 0 });

    const call = pace.run(async () => clock.now());
    await clock.run(12_000);
    await set({ pausedAtMs: undefined });
    await clock.run();

    await expect(call).resolves.toBe(15_000);
  });

  test('voids the slots that were reserved before the pause', async () => {
    const { clock, pace, set } = paced({ rate: 1, concurrency: 2, maxWaitMs: 20_000 });
    const departures: number[] = [];
    const calls = Promise.allSettled([1, 2].map(() => pace.run(async () => departures.push(clock.now()))));
    await clock.run(500);

    await set({ pausedAtMs: 500 });
    await clock.run();
    const [first, second] = await calls;

    expect(departures).toEqual([0]);
    expect([first?.status, second?.status]).toEqual(['fulfilled', 'rejected']);
    expect(pace.counts()).toMatchObject({ granted: 2, used: 1, wasted: 1 });
  });
});

test('refusing a call changes nothing, and for a second further calls are refused without another read of the budget', async () => {
  const clock = createVirtualClock();
  const { item, state, set } = createItem();
  await set({ incidents: 1, tatMs: 60_000, throttle: learnedTo(7, 0) });
  const pace = createFleetPace({ ...clock, item, rate: 10, concurrency: 1, maxWaitMs: 5_000 });

  for (let call = 0; call < 10; call += 1)
    await expect(pace.run(async () => 'left')).rejects.toMatchObject({ waitMs: 59_995 });

  expect(state).toMatchObject({ reads: 1, writes: 0 });
  expect(await item.read()).toMatchObject({ tatMs: 60_000, tally: { granted: 0 } });
});

test.each([
  ['a fleet', () => createFleetPace({ item: createMemoryBudget(), rate: 1_000, concurrency: 1 })],
  ['one process', () => createProcessPace({ rate: 1_000, concurrency: 1 })],
])('the pace of %s uses the clock of the process, unless another clock is given', async (_, create) => {
  const pace = create();

  expect(await pace.run(async () => 'done')).toBe('done');

  expect(pace.counts().waitedMs).toBeLessThan(60_000);
});

test('a pace that opens its budget with its first call stores a 429 there', async () => {
  const clock = createVirtualClock();
  const budget = createMemoryBudget();
  const pace = openFleetPace({ ...clock, budget: async () => budget, rate: 10, concurrency: 1 });
  await clock.finish(pace.run(async (slot) => pace.throttled(slot, undefined)));

  expect((await budget.read()).incidents).toBe(1);
});

test('a pace opens its budget once, with its first call', async () => {
  const clock = createVirtualClock();
  let opened = 0;
  const budget = async () => {
    opened += 1;
    return createMemoryBudget();
  };
  const pace = openFleetPace({ ...clock, budget, rate: 10, concurrency: 2 });

  const before = { opened, counts: pace.counts() };
  const calls = Promise.all([pace.run(async () => 1), pace.run(async () => 2)]);
  await clock.run();

  expect(before).toMatchObject({ opened: 0, counts: { granted: 0, effectiveRate: 10 } });
  await expect(calls).resolves.toEqual([1, 2]);
  expect(opened).toBe(1);
  expect(pace.counts().used).toBe(2);
});

test.each([
  ['twenty minutes', 1_200_000, 1_200_000],
  ['a month, which only a clock that was set explains,', 31 * 86_400_000, 1_000],
])('a call that is refused because its turn is in %s may be retried then, or soon', (_, dueInMs, waitMs) => {
  expect(new PaceWaitError(dueInMs, 20_000).waitMs).toBe(waitMs);
});
