import { describe, expect, test } from 'vitest';
import { createBudgetView, createMemoryBudget, emptyBudget } from '../../lib/pace/budget.ts';
import { trackTime } from '../../lib/pace/clock.ts';
import { createFleetSlots } from '../../lib/pace/fleet-slots.ts';
import type { Demand } from '../../lib/pace/reserve-block.ts';
import { createVirtualClock } from './virtual-clock.ts';

const demand: Demand = { waiting: 2, arrived: 2 };

/** A worker at 10 requests a second: a block spans two slots. */
function createWorker({
  maxWaitMs = Number.POSITIVE_INFINITY,
  item = createMemoryBudget(),
  clock = createVirtualClock(),
} = {}) {
  const slots = createFleetSlots({
    view: createBudgetView(item, clock),
    rate: 10,
    maxWaitMs,
    reserve: 'batch',
    clock,
  });
  const take = () =>
    clock.finish(slots.take({ calledAt: trackTime(clock), signal: undefined, demand: () => demand }));
  const pass = (ms: number) => clock.finish(clock.sleep(ms));
  return { item, slots, take, pass };
}

test('a worker that gets a 429 drops the slots that it has reserved', async () => {
  const { slots, take } = createWorker();

  const slot = await take();
  await slots.throttled(slot, 7_000);
  const next = await take();

  expect(slots.counts()).toMatchObject({ granted: 3, used: 2, wasted: 1 });
  expect(next.atMs).toBe(6_995);
});

test('slots that passed while no call waited are wasted, and the next slots are reserved no further ahead', async () => {
  const { slots, take, pass } = createWorker();

  await take();
  await pass(5_000);
  const { waitedMs } = await take();

  expect(slots.counts()).toMatchObject({ granted: 4, used: 2, wasted: 1 });
  expect(waitedMs).toBe(0);
});

describe('after a first response', () => {
  async function firstSlotAfter(tookMs: number) {
    const clock = createVirtualClock();
    const memory = createMemoryBudget();
    const slow = [tookMs];
    const item = { ...memory, read: () => clock.sleep(slow.pop() ?? 0).then(memory.read) };
    return (await createWorker({ item, clock }).take()).atMs;
  }

  test('that took a second, slots are reserved about three quarters of a second ahead', async () => {
    expect(await firstSlotAfter(1_000)).toBe(1_745);
  });

  test('that took an hour, because the process was stopped, no slot is reserved an hour ahead', async () => {
    expect(await firstSlotAfter(3_600_000)).toBe(3_600_000);
  });
});

test('the usage of a worker is reported once, although other writes overtake the write that reports it', async () => {
  const item = createMemoryBudget();
  const { take, pass } = createWorker({
    item: {
      ...item,
      change: async (act, next) => {
        next(await item.read());
        return item.change(act, next);
      },
    },
  });

  await take();
  await pass(5_000);
  await take();

  expect((await item.read()).tally).toEqual({ ...emptyBudget.tally, granted: 4, used: 1, wasted: 1 });
});
