import { describe, expect, test } from 'vitest';
import { type Budget, type BudgetItem, emptyBudget } from '../../lib/pace/budget.ts';
import { createMemoryBudget } from '../../lib/pace/budget-changes.ts';
import { createFleetSlots } from '../../lib/pace/fleet-slots.ts';
import type { Slot } from '../../lib/pace/pace.ts';
import { type ApproachRequest, type Demand, momentOf } from '../../lib/pace/slots.ts';
import { createVirtualClock } from './virtual-clock.ts';

const demand: Demand = { waiting: 2, queued: 0, arrived: 2, concurrency: 8, latencyMs: 20, leadMs: 0 };

type Given = {
  readonly budget?: Partial<Budget>;
  readonly maxWaitMs?: number;
  /** How long each request to the item takes. Default: 40 ms. */
  readonly responseMs?: number;
  /** How late timers wake. Default: not at all. */
  readonly lateness?: () => number;
};

/** A worker at 10 requests a second: a block spans two slots of 103 ms. */
function createWorker({
  budget,
  maxWaitMs = Number.POSITIVE_INFINITY,
  responseMs = 40,
  lateness,
}: Given = {}) {
  const state = { setByMs: 0 };
  const virtual = createVirtualClock({ lateness });
  const clock = { ...virtual, steady: () => virtual.now() - state.setByMs };
  const memory = createMemoryBudget({ ...emptyBudget, ...budget });
  const log: string[] = [];
  const logged =
    <Args extends readonly unknown[], T>(name: string, act: (...given: Args) => Promise<T>) =>
    async (...given: Args) => {
      log.push(`${name} at ${Math.round(clock.now())}`);
      await clock.sleep(responseMs);
      return act(...given);
    };
  const item: BudgetItem = {
    ...memory,
    read: logged('look', memory.read),
    reserve: logged('reserve', memory.reserve),
    lower: logged('lower', memory.lower),
  };
  const slots = createFleetSlots({ item, rate: 10, maxWaitMs, greed: 'block', clock, random: () => 0.5 });
  const request = (given: Partial<Demand> = {}) => ({
    calledAt: momentOf(clock),
    signal: undefined,
    demand: () => ({ ...demand, ...given }),
  });
  const run = async <T>(act: () => Promise<T>): Promise<T> => {
    const [done] = await Promise.allSettled([act(), clock.run()]);
    if (done.status === 'rejected') throw done.reason;
    return done.value;
  };
  return {
    slots,
    state,
    clock,
    memory,
    request,
    run,
    take: (given: Partial<Demand> = {}) => run(() => slots.take(request(given))),
    reserve: () => run(() => slots.reserve(request())),
    throttled: (slot: Slot, retryAfterMs?: number) => run(() => slots.throttled(slot, retryAfterMs)),
    /** When a call that has `calls` others ahead, and prepares for `leadMs`, is let through. */
    approach: async (calls: number, { leadMs = 0, forMs = 1e9 } = {}) => {
      const given: ApproachRequest = { ...request(), ahead: () => ({ calls, forMs }), leadMs: () => leadMs };
      await run(() => slots.approach(given));
      return clock.now();
    },
    pass: (ms: number) => run(() => clock.sleep(ms)),
    takeLog: () => log.splice(0),
  };
}

describe('a slot', () => {
  test('is reserved as long ahead as a response takes, and used in its time', async () => {
    const { take, memory, takeLog } = createWorker();

    const first = await take();
    const second = await take();

    expect([first.atMs, second.atMs]).toEqual([80, 178]);
    expect(first).toMatchObject({ waitedMs: 80, incidents: 0, untilMs: 90 });
    expect(takeLog()).toEqual(['look at 0', 'reserve at 40']);
    expect((await memory.read()).tatMs).toBe(80 + 206);
  });

  test('that a call gives back is wasted, and proves nothing', async () => {
    const { take, slots, throttled, memory, pass } = createWorker();
    const slot = await take();

    slots.giveBack(slot);
    await pass(5_000);

    expect(slots.counts()).toMatchObject({ granted: 2, used: 0, wasted: 1 });
    await throttled({ atMs: 0, waitedMs: 0, incidents: 0 }, 1_000);
    expect((await memory.read()).lowered).toMatchObject({ rate: 7 });
  });

  test('in a block reserved long before is looked at again shortly before it begins', async () => {
    const { take, takeLog } = createWorker({ budget: { tatMs: 5_000 } });

    const { atMs } = await take();

    expect(atMs).toBe(4_995);
    expect(takeLog()).toEqual(['look at 0', 'reserve at 40', 'look at 4955']);
  });

  test('that a late timer misses is wasted, and the next is reserved further ahead', async () => {
    const late = [30, 30, 30, 30];
    const { take, slots } = createWorker({ responseMs: 0, lateness: () => late.pop() ?? 0 });

    await take();
    await take();
    await take();

    expect(slots.counts().used).toBe(3);
    expect(slots.counts().wasted).toBeGreaterThan(0);
  });

  test('is void once the clock was set', async () => {
    const { take, state, slots } = createWorker();
    await take();

    state.setByMs = 100;
    await take();

    expect(slots.counts()).toMatchObject({ granted: 4, used: 2, wasted: 1 });
  });
});

test('a slot may be used no later after one miss', async () => {
  const late = [0, 0, 30];
  const { take, slots } = createWorker({ responseMs: 0, lateness: () => late.shift() ?? 0 });

  const taken = [await take(), await take(), await take()];

  expect(slots.counts()).toMatchObject({ used: 3, wasted: 1 });
  expect(taken.map(({ atMs, untilMs = 0 }) => untilMs - atMs)).toEqual([10, 15, 15]);
});

test('a slot may be used later once a call has missed two by its timers', async () => {
  const { take, slots } = createWorker({ responseMs: 0, lateness: () => 30 });

  await take();
  const { atMs, untilMs = 0 } = await take();

  expect(untilMs - atMs).toBeGreaterThan(10);
  expect(slots.counts()).toMatchObject({ used: 2, wasted: 3 });
});

describe('a probe', () => {
  const probing = { incidents: 2, tatMs: 0, lowered: { rate: 7, atMs: -9_000 } };

  test.each([
    ['was refused', async ({ throttled }: ReturnType<typeof createWorker>, slot: Slot) => throttled(slot)],
    [
      'gave its slot back',
      async ({ slots, throttled }: ReturnType<typeof createWorker>, slot: Slot) => {
        slots.giveBack(slot);
        await throttled({ atMs: 99, waitedMs: 0, incidents: 2 });
      },
    ],
  ])('that %s does not show that the platform accepts calls', async (_, end) => {
    const worker = createWorker({ budget: probing });

    await end(worker, await worker.take());

    expect((await worker.memory.read()).lowered).toMatchObject({ atMs: -9_000, refused: 1 });
  });
});

test('two calls at once reserve one block', async () => {
  const { slots, run, request, takeLog } = createWorker();

  await run(() => Promise.all([slots.reserve(request()), slots.reserve(request())]));

  expect(takeLog()).toEqual(['look at 0', 'reserve at 40']);
});

test('calls that arrived while a block was used get slots in the next one', async () => {
  const { take, slots } = createWorker({ responseMs: 0 });

  await take({ arrived: 2 });
  await take({ arrived: 3, waiting: 1 });
  await take({ arrived: 4, waiting: 1 });

  expect(slots.counts()).toMatchObject({ granted: 4 });
});

describe('a call that must prepare', () => {
  test('reserves at once if no other will, and is let through as long before its slot as it prepares', async () => {
    const { approach, takeLog } = createWorker({ budget: { tatMs: 5_000 } });

    expect(await approach(0, { leadMs: 300 })).toBe(4_995 - 40 - 300);
    expect(takeLog()).toEqual(['look at 0', 'reserve at 40']);
  });

  test('reserves slots that it will be ready for', async () => {
    const { approach, memory } = createWorker();

    await approach(0, { leadMs: 300 });

    expect((await memory.read()).tatMs).toBe(40 + 40 + 300 + 206);
  });

  test('needs no check of a block that begins soon', async () => {
    const { approach, reserve } = createWorker({ budget: { tatMs: 250 } });
    await reserve();

    expect(await approach(0, { leadMs: 10 })).toBe(250 - 5 - 10);
  });

  test('reserves nothing if others are ahead that will, and looks again when they have used up the block', async () => {
    const { slots, run, request, reserve, clock, takeLog } = createWorker({ budget: { tatMs: 5_000 } });
    await reserve();
    takeLog();
    const asked: number[] = [];
    const ahead = () => {
      asked.push(clock.now());
      return { calls: asked.length === 1 ? 2 : 0, forMs: 1e9 };
    };

    await run(() => slots.approach({ ...request(), ahead, leadMs: () => 0 }));

    expect(asked).toEqual([80, 5_103]);
    expect(takeLog()).toEqual([]);
  });

  test('looks again when a call ahead may be late', async () => {
    const { slots, run, request, reserve, clock } = createWorker({ budget: { tatMs: 5_000 } });
    await reserve();
    const asked: number[] = [];
    const ahead = () => {
      asked.push(clock.now());
      return { calls: 1, forMs: 2_000 };
    };

    await run(() => slots.approach({ ...request(), ahead, leadMs: () => 0 }));

    expect(asked).toEqual([80, 2_080, 4_080, 5_058]);
  });

  test('behind those that have the slots held is let through a response sooner: one must be reserved for it', async () => {
    const { slots, approach, reserve } = createWorker();
    await reserve();
    // At 90 it is as long until its slot as it prepares and as a response takes.
    const leadMs = slots.dueAtMs(2) - 40 - 90;

    expect(await approach(2, { leadMs })).toBe(90);
  });

  test('looks again after a 429, which may have dropped the slots held', async () => {
    const { slots, run, request, reserve, clock } = createWorker({ budget: { tatMs: 5_000 } });
    await reserve();
    const asked: number[] = [];
    const ahead = () => {
      asked.push(clock.now());
      return { calls: asked.length === 1 ? 1 : 0, forMs: 1e9 };
    };
    const refused = async () => {
      await clock.sleep(500);
      await slots.throttled({ atMs: 0, waitedMs: 0, incidents: 0 }, undefined);
    };

    await run(() => Promise.all([slots.approach({ ...request(), ahead, leadMs: () => 0 }), refused()]));

    expect(asked.slice(0, 2)).toEqual([80, 620]);
  });

  test('leaves the reservation to the calls ahead', async () => {
    const { slots, run, request, takeLog } = createWorker();
    const asked = [1, 1, 0];
    const ahead = () => ({ calls: asked.shift() ?? 0, forMs: 20 });

    await run(() => slots.approach({ ...request(), ahead, leadMs: () => 0 }));

    expect(takeLog()).toEqual(['look at 40', 'reserve at 80']);
  });

  test('may wait just as long as it must', async () => {
    const [patient, hasty] = [1_000, 999].map((maxWaitMs) =>
      createWorker({ maxWaitMs, budget: { tatMs: 1_000 } }),
    );
    for (const worker of [patient, hasty]) {
      await worker?.reserve();
      await worker?.pass(18);
    }

    expect(await patient?.approach(1)).toBe(1_098 - 40);
    await expect(hasty?.approach(1)).rejects.toMatchObject({ waitMs: 1_000 });
  });

  test('reserves anew if the block that is held has passed', async () => {
    const { approach, reserve, pass, takeLog, clock } = createWorker();
    await reserve();
    await pass(5_000);
    takeLog();

    await approach(0);

    expect(takeLog()).toEqual(['reserve at 5080']);
    expect(clock.now()).toBeGreaterThan(5_080);
  });

  test('is refused if the slots ahead of its own are too many', async () => {
    const { approach, reserve, pass } = createWorker({ maxWaitMs: 5_000, budget: { tatMs: 1_000 } });
    await reserve();
    await pass(100);

    await expect(approach(60)).rejects.toMatchObject({ waitMs: 1_206 - 5 + 58 * 103 - 180 });
  });
});

describe('a call is due', () => {
  test.each([
    ['in the first slot held', 0, 995],
    ['in the second', 1, 1_098],
    ['after those, at the end of the line', 2, 1_201],
    ['an interval later for each call ahead', 4, 1_407],
  ])('%s', async (_, ahead, dueMs) => {
    const { slots, reserve } = createWorker({ budget: { tatMs: 1_000 } });
    await reserve();

    expect(slots.dueAtMs(ahead)).toBe(dueMs);
  });

  test('now, and those behind it later, where nothing is known, or nothing new', async () => {
    const { slots, throttled, pass, clock } = createWorker({ budget: { tatMs: 60_000 } });
    const before = [slots.dueAtMs(0), slots.dueAtMs(1)];
    await throttled({ atMs: 0, waitedMs: 0, incidents: -1 });
    await pass(1_000);
    const nowMs = clock.now();

    expect(before).toEqual([-5, 98]);
    expect(slots.dueAtMs(0) - nowMs).toBe(-5);
    expect(slots.dueAtMs(3) - nowMs).toBe(-5 + 309);
  });

  test('where the line ended, as long as that was seen within a second', async () => {
    const { slots, take, pass } = createWorker({ responseMs: 0 });
    await take();
    await take();
    await pass(1_000 - 98);
    const within1s = [slots.dueAtMs(0), slots.dueAtMs(1)];
    await pass(1);

    expect(within1s).toEqual([201, 1_098]);
    expect(slots.dueAtMs(0)).toBe(996);
  });
});

describe('a 429', () => {
  test('of a slot of before the last one changes nothing', async () => {
    const { throttled, memory, takeLog } = createWorker({
      budget: { incidents: 2, tatMs: 0, lowered: { rate: 7, atMs: -9_000 } },
    });

    await throttled({ atMs: 0, waitedMs: 0, incidents: 1 });

    expect((await memory.read()).incidents).toBe(2);
    expect(takeLog()).toEqual(['look at 0']);
  });

  test.each([
    ['lowers the rate if the platform had accepted calls', { succeededMs: -8_000 }, { atMs: 40 }],
    ['prolongs the spell if it had not', {}, { atMs: -9_000, refused: 1, refusedAtMs: 40 }],
  ])('%s', async (_, given, lowered) => {
    const { throttled, memory } = createWorker({
      budget: { incidents: 2, tatMs: 0, lowered: { rate: 7, atMs: -9_000, ...given } },
    });

    await throttled({ atMs: 0, waitedMs: 0, incidents: 2 });

    expect((await memory.read()).lowered).toMatchObject(lowered);
  });

  test('lowers the rate if a call of this worker was accepted since the last one', async () => {
    const { slots, take, throttled, memory } = createWorker({
      budget: { incidents: 2, tatMs: 0, lowered: { rate: 7, atMs: -9_000 } },
    });
    const [probe, other] = [await take(), { atMs: 99, waitedMs: 0, incidents: 2 }];
    slots.ended(probe, true);

    await throttled(other);

    expect((await memory.read()).lowered).not.toHaveProperty('refused');
  });

  test('is looked up if another worker has reported it first', async () => {
    const { take, throttled, memory, takeLog, slots } = createWorker();
    const slot = await take();
    takeLog();
    await memory.lower({ incidents: 0, fromMs: 9_000, lowered: { rate: 7, atMs: 80 } });

    await throttled(slot);

    expect(takeLog()).toEqual(['lower at 80', 'look at 120']);
    expect(slots.counts()).toMatchObject({ throttled: 1, wasted: 1, effectiveRate: 7 });
  });

  test('needs no further look if it was this worker’s to report', async () => {
    const { take, throttled, takeLog } = createWorker();
    const slot = await take();
    takeLog();

    await throttled(slot);

    expect(takeLog()).toEqual(['lower at 80']);
  });
});
