import { describe, expect, test } from 'vitest';
import {
  type Budget,
  type BudgetItem,
  createBudgetView,
  createMemoryBudget,
  emptyBudget,
} from '../../lib/pace/budget.ts';
import { trackTime } from '../../lib/pace/clock.ts';
import { createFleetSlots } from '../../lib/pace/fleet-slots.ts';
import type { Slot } from '../../lib/pace/pace.ts';
import type { Demand } from '../../lib/pace/reserve-block.ts';
import { learnedTo, refusedAt } from './throttled.ts';
import { createVirtualClock } from './virtual-clock.ts';

const demand: Demand = { waiting: 2, arrived: 2 };

type Given = {
  readonly budget?: Partial<Budget>;
  /** How long each request to the item takes. Default: 40 ms. */
  readonly responseMs?: number;
  /** How late timers wake. Default: not at all. */
  readonly lateness?: () => number;
};

/** A worker at 10 requests a second: a block spans two slots of 103 ms. */
function createWorker({ budget, responseMs = 40, lateness }: Given = {}) {
  const state = { setByMs: 0, failsAtMs: Number.POSITIVE_INFINITY };
  const virtual = createVirtualClock({ lateness });
  const clock = { ...virtual, steady: () => virtual.now() - state.setByMs };
  const memory = createMemoryBudget({ ...emptyBudget, ...budget });
  const log: string[] = [];
  const respond = async (name: string) => {
    log.push(`${name} at ${Math.round(clock.now())}`);
    await clock.sleep(responseMs);
  };
  const item: BudgetItem = {
    async read() {
      await respond('look');
      if (clock.now() < state.failsAtMs) return memory.read();
      state.failsAtMs = Number.POSITIVE_INFINITY;
      throw new Error('no response');
    },
    // A view as in a worker that is the only one to change the budget.
    async change(act, next) {
      const changed = next(await memory.read());
      await respond(act.split(' ')[0] ?? '');
      return changed && memory.change(act, () => changed);
    },
  };
  const slots = createFleetSlots({
    ...{ view: createBudgetView(item, clock), rate: 10, maxWaitMs: Number.POSITIVE_INFINITY },
    ...{ reserve: 'batch', clock },
  });
  const request = (given: Partial<Demand> = {}) => ({
    calledAt: trackTime(clock),
    signal: undefined,
    demand: () => ({ ...demand, ...given }),
  });
  const run = <T>(act: () => Promise<T>): Promise<T> => clock.finish(act());
  const waitUntilDue = async (leadMs: number, calls = () => 0) => {
    const ahead = () => ({ calls: calls(), forMs: 1e9 });
    await slots.waitUntilDue({ ...request(), ahead, leadMs: () => leadMs });
    return clock.now();
  };
  return {
    slots,
    state,
    memory,
    take: (given: Partial<Demand> = {}) => run(() => slots.take(request(given))),
    throttled: (slot: Slot, retryAfterMs?: number) => run(() => slots.throttled(slot, retryAfterMs)),
    /** When a call that prepares for `leadMs`, with no other calls ahead, may proceed. */
    waitUntilDue: (leadMs: number) => run(() => waitUntilDue(leadMs)),
    /** When a call that waits behind another one, until that takes its slot, may proceed. */
    waitUntilDueBehind: (leadMs: number) => {
      let ahead = 1;
      const first = async () => {
        await slots.take(request());
        ahead = 0;
      };
      return run(async () => (await Promise.all([waitUntilDue(leadMs, () => ahead), first()]))[0]);
    },
    pass: (ms: number) => run(() => clock.sleep(ms)),
    takeLog: () => log.splice(0),
  };
}

describe('a slot', () => {
  test('on an empty line is used once the response to its reservation arrives, and the line continues from then', async () => {
    const { take, memory, takeLog } = createWorker();

    const first = await take();
    const second = await take();

    expect([first.atMs, second.atMs]).toEqual([80, 138]);
    expect(first).toMatchObject({ waitedMs: 80, throttleEpoch: 0, untilMs: 90 });
    expect(takeLog()).toEqual(['look at 0', 'reserve at 40']);
    expect((await memory.read()).tatMs).toBe(80 + 206);
  });

  test('that was reserved seconds ahead is checked again shortly before it is due', async () => {
    const { take, takeLog } = createWorker({ budget: { tatMs: 5_000 } });

    const { atMs } = await take();

    expect(atMs).toBe(4_995);
    expect(takeLog()).toEqual(['look at 0', 'reserve at 40', 'look at 4955']);
  });

  test('that was reserved seconds ahead is void if the budget cannot be read then', async () => {
    const { take, state, slots, takeLog } = createWorker({ budget: { tatMs: 5_000 } });
    state.failsAtMs = 4_900;

    const { atMs } = await take();

    // The call waits one block longer, since a 429 may have restarted the line.
    expect(atMs).toBe(5_201);
    expect(slots.counts()).toMatchObject({ granted: 4, used: 1, wasted: 2 });
    expect(takeLog()).toEqual(['look at 0', 'reserve at 40', 'look at 4955', 'reserve at 4995']);
  });

  test('is void once the clock was set', async () => {
    const { take, state, slots } = createWorker();
    await take();

    state.setByMs = 100;
    await take();

    expect(slots.counts()).toMatchObject({ granted: 4, used: 2, wasted: 1 });
  });
});

test('a slot that was reserved before the clock was set is dropped, and does not delay the next call', async () => {
  const { take, slots, state } = createWorker();
  await take();
  const held = slots.dueAtMs(0);

  state.setByMs = -31 * 86_400_000;
  const due = slots.dueAtMs(0);

  expect(due).not.toBe(held);
  expect(slots.counts()).toMatchObject({ granted: 2, used: 1, wasted: 1 });
});

test('once late timers have made a call miss two slots, slots may be used later than before', async () => {
  const { take, slots } = createWorker({ responseMs: 0, lateness: () => 30, budget: { tatMs: 100 } });

  await take();
  const { atMs, untilMs = 0 } = await take();

  expect(untilMs - atMs).toBeGreaterThan(10);
  expect(slots.counts()).toMatchObject({ used: 2, wasted: 4 });
});

describe('a probe', () => {
  const probing = { incidents: 2, tatMs: 0, throttle: refusedAt(-9_000) };

  test.each([
    ['was refused', async ({ throttled }: ReturnType<typeof createWorker>, slot: Slot) => throttled(slot)],
    [
      'gave its slot back',
      async ({ slots, throttled }: ReturnType<typeof createWorker>, slot: Slot) => {
        slots.giveBack(slot);
        await throttled({ atMs: 99, waitedMs: 0, throttleEpoch: 2 });
      },
    ],
  ])('that %s does not count as an accepted call', async (_, end) => {
    const worker = createWorker({ budget: probing });

    await end(worker, await worker.take());

    expect((await worker.memory.read()).throttle).toMatchObject({ rate: 10, refusals: 2 });
  });
});

test('a call that must prepare reserves a slot immediately if no other call will, and begins to prepare in time for it', async () => {
  const { waitUntilDue, takeLog } = createWorker({ budget: { tatMs: 5_000 } });

  expect(await waitUntilDue(300)).toBe(4_995 - 40 - 300);
  expect(takeLog()).toEqual(['look at 0', 'reserve at 40']);
});

test('a call that waits behind another call prepares for the slot after the other’s slot, even if the line is empty', async () => {
  const { take, pass, waitUntilDueBehind } = createWorker();
  await take();
  await pass(920);

  expect(await waitUntilDueBehind(10)).toBe(1_000 + 103 - 5 - 10);
});

test('if the line was seen to be empty, a call prepares before its slot is reserved', async () => {
  const { waitUntilDue, take, pass, takeLog } = createWorker();
  await take();
  await pass(300);
  takeLog();

  expect(await waitUntilDue(60)).toBe(380);
  expect(takeLog()).toEqual(['reserve at 380']);
});

describe('a 429', () => {
  test('changes nothing if its slot was reserved before the last 429', async () => {
    const { throttled, memory, takeLog } = createWorker({
      budget: { incidents: 2, tatMs: 0, throttle: refusedAt(-9_000) },
    });

    await throttled({ atMs: 0, waitedMs: 0, throttleEpoch: 1 });

    expect((await memory.read()).incidents).toBe(2);
    expect(takeLog()).toEqual(['look at 0']);
  });

  test('lowers the rate if a call of this worker was accepted since the last 429', async () => {
    const { slots, take, throttled, memory } = createWorker({
      budget: { incidents: 2, tatMs: 0, throttle: refusedAt(-9_000) },
    });
    const [probe, other] = [await take(), { atMs: 99, waitedMs: 0, throttleEpoch: 2 }];
    slots.ended(probe, true);

    await throttled(other);

    expect((await memory.read()).throttle).toMatchObject({ refusals: 1 });
  });

  test('is not reported again if another worker has already reported it', async () => {
    const { take, throttled, memory, takeLog, slots } = createWorker();
    const slot = await take();
    takeLog();
    const lowered = { tatMs: 9_000, incidents: 1, throttle: learnedTo(7, 80) };
    await memory.change('lower', (budget) => ({ ...budget, ...lowered }));

    await throttled(slot);

    expect(takeLog()).toEqual(['lower at 80']);
    expect(slots.counts()).toMatchObject({ throttled: 1, wasted: 1, effectiveRate: expect.closeTo(7, 3) });
  });
});

test('if a clock is seen being set, no call leaves for a second', async () => {
  const { state, take } = createWorker();
  const first = await take({ waiting: 1 });

  state.setByMs = 31 * 86_400_000;
  const next = await take({ waiting: 1 });

  expect(next.atMs - first.atMs).toBeGreaterThanOrEqual(1_000);
});
