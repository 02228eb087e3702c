import { describe, expect, test } from 'vitest';
import { type Budget, type BudgetItem, emptyBudget, type Reservation } from '../../lib/pace/budget.ts';
import { createMemoryBudget } from '../../lib/pace/budget-changes.ts';
import { createBudgetView } from '../../lib/pace/budget-view.ts';
import type { HeldBlock } from '../../lib/pace/held-block.ts';
import { createProof } from '../../lib/pace/proof.ts';
import { createReserver, type LineOptions, lineStartMs } from '../../lib/pace/reserve-block.ts';
import { momentOf } from '../../lib/pace/slots.ts';
import { createWorkerTally, noTally } from '../../lib/pace/tally.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { createVirtualClock } from './virtual-clock.ts';

const demand = { waiting: 2, queued: 0, arrived: 2, concurrency: 8, latencyMs: 20, leadMs: 0 };
const punctual = { aheadMs: 0, lateMs: 10, followers: 0 };

type Given = Partial<Pick<LineOptions, 'rate' | 'maxWaitMs' | 'greed'>> & {
  readonly budget?: Partial<Budget>;
  /** How long each request to the item takes. Default: no time. */
  readonly responseMs?: number;
  readonly doubtMs?: number;
  /** What the item's `reserve` does instead, by the number of the write; 1 is the first. */
  readonly instead?: (
    write: number,
    memory: BudgetItem,
  ) => Awaited<ReturnType<BudgetItem['reserve']>> | undefined;
};

/** A worker at 10 requests a second: a block spans two slots of 103 ms. */
function createWorker({ budget, responseMs = 0, doubtMs = 0, instead, ...options }: Given = {}) {
  const clock = { ...createVirtualClock(), doubtMs: () => doubtMs };
  const memory = createMemoryBudget({ ...emptyBudget, ...budget });
  const reserved: Reservation[] = [];
  const readAt: number[] = [];
  const item: BudgetItem = {
    ...memory,
    async read() {
      readAt.push(clock.now());
      if (responseMs > 0) await clock.sleep(responseMs);
      return memory.read();
    },
    async reserve(reservation) {
      reserved.push(reservation);
      if (responseMs > 0) await clock.sleep(responseMs);
      return instead?.(reserved.length, memory) ?? memory.reserve(reservation);
    },
  };
  const [tally, proof] = [createWorkerTally(), createProof(clock)];
  const view = createBudgetView(item, clock);
  const limits = { rate: 10, maxWaitMs: Number.POSITIVE_INFINITY, greed: 'block' as const };
  const setBack: string[] = [];
  const onSetBack = () => void setBack.push('set back');
  const reserveBlock = createReserver({ ...limits, ...options, item, clock, view, tally, proof, onSetBack });
  const reserve = async (outlook = punctual, calledAt = momentOf(clock)) => {
    const held: HeldBlock[] = [];
    const reserving = reserveBlock(
      { calledAt, signal: undefined, demand: () => demand, outlook: () => outlook },
      (block) => held.push(block),
    ).then(
      () => ({ block: held[0], error: undefined }),
      (error: unknown) => ({ block: undefined, error }),
    );
    await clock.run();
    return reserving;
  };
  const pass = async (ms: number) => {
    const slept = clock.sleep(ms);
    await clock.run();
    await slept;
  };
  const succeed = (incidents: number) => {
    const slot = { atMs: 0, waitedMs: 0 };
    proof.left(slot, incidents);
    proof.ended(slot, true);
  };
  return { memory, clock, reserve, pass, succeed, tally, reserved, readAt, setBack };
}

const kinds = (reserved: readonly Reservation[]) => reserved.map(({ kind }) => kind);

describe('a block', () => {
  test('begins as soon as it can be used, and holds a slot for each call that waits', async () => {
    const { reserve, reserved } = createWorker();

    const { block } = await reserve();

    expect(block).toMatchObject({ kind: 'fresh', slots: [0, 103], lateMs: 10, toleranceMs: 5, incidents: 0 });
    expect(reserved).toMatchObject([{ kind: 'idle', fromMs: 0, blockMs: 206, incidents: 0, rate: 10 }]);
  });

  test('begins after the time that a response takes, and that the worker wants besides', async () => {
    const { reserve, reserved } = createWorker({ responseMs: 40 });

    await reserve({ ...punctual, aheadMs: 30.5 });

    expect(reserved).toMatchObject([{ fromMs: 40 + 40 + 31 }]);
  });

  test('leaves both of its ends empty where the clock may be off', async () => {
    const { reserve, reserved } = createWorker({ doubtMs: 3.000_4 });

    const { block } = await reserve();

    expect(reserved).toMatchObject([{ blockMs: 206 + 6.002 }]);
    expect(block).toMatchObject({ slots: [3.001, 106.001] });
  });

  test('begins again where the line is so far ahead that nothing explains it', async () => {
    const given = { maxWaitMs: 20_000, budget: { tatMs: 80_001, longestWaitMs: 5_000, incidents: 3 } };
    const { reserve, reserved, setBack } = createWorker(given);

    // A second later, when nobody holds slots of before.
    expect((await reserve()).block).toMatchObject({ slots: [1_000, 1_103], incidents: 4 });
    expect(reserved).toMatchObject([{ kind: 'stray', fromMs: 1_000, longestWaitMs: 20_000 }]);
    expect(setBack).toEqual(['set back']);
  });

  test('says how long its calls may wait, unless those of another process may wait longer', async () => {
    const workers = [
      createWorker({ maxWaitMs: 20_000 }),
      createWorker({ maxWaitMs: 20_000, budget: { longestWaitMs: 20_000 } }),
      createWorker(),
    ];

    for (const { reserve } of workers) await reserve();

    const longest = workers.map(({ reserved }) => reserved[0]?.longestWaitMs);
    expect(longest).toEqual([20_000, undefined, 1_200_000]);
  });

  test('says it again after half a minute, since nobody counts it for longer than its slots last', async () => {
    const said = [-30_000, -30_001, -80_001].map((longestWaitAtMs, at) =>
      createWorker({
        maxWaitMs: at < 2 ? 20_000 : 5_000,
        budget: { longestWaitMs: 20_000, longestWaitAtMs },
      }),
    );

    for (const { reserve } of said) await reserve();

    expect(said.map(({ reserved }) => reserved[0]?.longestWaitMs)).toEqual([undefined, 20_000, 5_000]);
  });
});

test('the line starts at its end, unless no wait explains how far ahead that is, or where a probe is due', () => {
  const line = { maxWaitMs: 20_000, nowMs: 0 };
  const lowered = { rate: 7, atMs: 0, probeMs: 900 };

  const hour = { ...emptyBudget, longestWaitMs: 3_600_000 };

  expect(lineStartMs(emptyBudget, line)).toBeUndefined();
  expect(lineStartMs({ ...emptyBudget, tatMs: 80_000 }, line)).toBe(80_000);
  expect(lineStartMs({ ...emptyBudget, tatMs: 80_001 }, line)).toBeUndefined();
  expect(lineStartMs({ ...hour, tatMs: 3_660_000 }, line)).toBe(3_660_000);
  expect(lineStartMs({ ...hour, tatMs: 3_660_001 }, line)).toBeUndefined();
  const later = { ...line, nowMs: 3_660_001 };
  expect(lineStartMs({ ...hour, tatMs: 4_000_000 }, later)).toBeUndefined();
  expect(lineStartMs({ ...hour, longestWaitAtMs: 1, tatMs: 4_000_000 }, later)).toBe(4_000_000);
  expect(lineStartMs({ ...emptyBudget, tatMs: 500, lowered }, line)).toBe(900);
  expect(lineStartMs({ ...emptyBudget, tatMs: 500, lowered: { ...lowered, succeededMs: 9 } }, line)).toBe(
    500,
  );
});

describe('a line that is taken to be', () => {
  test('as it last was, if it was seen long ago: it costs a second write if it was used since', async () => {
    const { reserve, reserved, pass, memory } = createWorker({ responseMs: 6 });

    await reserve();
    await pass(5_000);
    await reserve();
    await memory.reserve({ ...(reserved[0] as Reservation), fromMs: 9_000, latestMs: 0 });
    await pass(3_000);
    await reserve();
    await pass(5_000);
    await reserve();

    expect(kinds(reserved)).toEqual(['idle', 'idle', 'idle', 'busy', 'busy', 'idle']);
  });
});

describe('a call', () => {
  test('is refused if it would wait longer, and learns how long from now', async () => {
    const { reserve, clock, pass, reserved } = createWorker({ budget: { tatMs: 10_005 }, maxWaitMs: 5_000 });
    await pass(500);
    const calledAt = momentOf(clock);
    await pass(1_000);

    const { error } = await reserve(punctual, calledAt);

    expect(error).toMatchObject({ name: 'PaceWaitError', waitMs: 8_500, maxWaitMs: 5_000 });
    expect(reserved).toEqual([]);
  });

  test.each([
    ['a line that was long', { tatMs: 60_000 }],
    ['a pause', { pausedAtMs: 0 }],
  ] as const)(
    'is refused by what was seen of %s within a second, and not by what was before',
    async (_, seen) => {
      const { reserve, pass, memory, readAt } = createWorker({ budget: seen, maxWaitMs: 5_000 });
      const first = await reserve();
      await memory.resume();
      await memory.reset(0);

      await pass(1_000);
      const second = await reserve();
      await pass(1);
      const third = await reserve();

      expect([first.error, second.error]).toMatchObject([
        { name: 'PaceWaitError' },
        { name: 'PaceWaitError' },
      ]);
      expect(third.block).toMatchObject({ kind: 'fresh' });
      expect(readAt).toEqual([0, 1_001]);
    },
  );
});

describe('a worker that is overtaken', () => {
  const overtaken = { kind: 'refused' } as const;

  test('gives up after ten times', async () => {
    const { reserve, reserved, readAt } = createWorker({ instead: () => overtaken });

    const { error } = await reserve();

    expect(error).toMatchObject({
      name: 'TableError',
      failure: { kind: 'busy', code: 'overtaken each time' },
    });
    expect(reserved).toHaveLength(10);
    expect(readAt).toHaveLength(11);
  });

  test('does not give up while it waits to probe', async () => {
    const lowered = { rate: 7, atMs: 0, probeMs: 0 };
    const { reserve, reserved } = createWorker({
      budget: { tatMs: 0, incidents: 1, lowered },
      instead: (n) => (n <= 20 ? overtaken : undefined),
    });

    expect((await reserve()).block).toMatchObject({ kind: 'fresh' });
    expect(reserved).toHaveLength(21);
  });
});

test('what a worker did is reported later if the table does not respond', async () => {
  const { reserve, tally } = createWorker({
    instead() {
      throw new TableError('try', { kind: 'busy', code: 'ThrottlingException' });
    },
  });
  tally.add({ used: 5 });

  expect((await reserve()).error).toMatchObject({ name: 'TableError' });
  expect(tally.reportOf(0)).toEqual({ ...noTally, used: 5 });
});

describe('while the platform refuses', () => {
  const refusing = { tatMs: 30_000, incidents: 1, lowered: { rate: 7, atMs: 0 } };

  test('a worker looks every five seconds, then sooner and sooner, and reserves one slot as it is due', async () => {
    const lowered = { rate: 28, atMs: 0 };
    const { reserve, readAt, reserved, clock } = createWorker({ rate: 40, budget: { ...refusing, lowered } });

    const { block } = await reserve();

    expect(readAt.slice(0, 5).map(Math.round)).toEqual([0, 5_000, 10_000, 14_999, 18_748]);
    expect(readAt.slice(-4).map(Math.round)).toEqual([29_401, 29_651, 29_901, 29_995]);
    expect(clock.now()).toBe(29_995);
    expect(reserved).toMatchObject([{ kind: 'probe', fromMs: 30_000, nextProbeMs: 31_000 }]);
    expect(block).toMatchObject({ slots: [30_000], incidents: 1 });
  });

  test('a worker whose call was accepted restarts the line after the last probe, without another look', async () => {
    const lowered = { rate: 3.5, atMs: 0, fromRate: 5, refused: 1, refusedAtMs: 100, probeMs: 1_000 };
    const { reserve, reserved, succeed, readAt } = createWorker({ budget: { ...refusing, lowered } });
    succeed(1);

    const { block } = await reserve();

    // At 5.5 a second, after a probe at 0.
    expect(reserved).toMatchObject([{ kind: 'restart', probeMs: 1_000, fromMs: 181.819, blockMs: 181.818 }]);
    expect(block?.kind === 'none' ? [] : block?.slots).toEqual([expect.closeTo(181.819, 3)]);
    expect(readAt).toEqual([0]);
  });

  test('a worker that waits learns at once that its own call was accepted', async () => {
    const { reserve, reserved, succeed, readAt, clock } = createWorker({ budget: refusing });
    void clock.sleep(1_000).then(() => succeed(1));

    await reserve();

    expect(clock.now()).toBe(1_000);
    expect(kinds(reserved)).toEqual(['restart']);
    expect(readAt).toEqual([0]);
  });
});
