import { describe, expect, test } from 'vitest';
import { createLocalSlots, type LocalSlotsOptions } from '../../lib/pace/local-slots.ts';
import { PaceWaitError } from '../../lib/pace/pace-wait-error.ts';
import { type Demand, momentOf } from '../../lib/pace/slots.ts';
import { createVirtualClock } from './virtual-clock.ts';

const demand: Demand = { waiting: 1, queued: 0, arrived: 1, concurrency: 8, latencyMs: 20, leadMs: 0 };

/** A process at 10 requests a second: slots are 101 ms apart, and a call may leave 5 ms early. */
function createWorker(options: Partial<LocalSlotsOptions> = {}) {
  const virtual = createVirtualClock();
  const clock = virtual;
  const slots = createLocalSlots({
    rate: 10,
    maxWaitMs: Number.POSITIVE_INFINITY,
    clock,
    random: () => 0.5,
    ...options,
  });
  const request = () => ({ calledAt: momentOf(clock), signal: undefined, demand: () => demand });
  const run = async <T>(act: () => Promise<T>): Promise<T> => {
    const [done] = await Promise.allSettled([act(), virtual.run()]);
    if (done.status === 'rejected') throw done.reason;
    return done.value;
  };
  return {
    slots,
    clock,
    virtual,
    begin: () => slots.take(request()),
    take: () => run(() => slots.take(request())),
    /** When a call that has `calls` others ahead, and prepares for `leadMs`, is let through. */
    approach: async (calls = 0, leadMs = 0) => {
      const ahead = () => ({ calls, forMs: 1e9 });
      await run(() => slots.approach({ ...request(), ahead, leadMs: () => leadMs }));
      return clock.now();
    },
    pass: (ms: number) => run(() => clock.sleep(ms)),
  };
}

describe('a call may wait', () => {
  test.each(['take', 'approach'] as const)('just as long as it must: %s', async (name) => {
    const patient = createWorker({ maxWaitMs: 96 });
    const hasty = createWorker({ maxWaitMs: 95 });
    for (const { pass, take } of [patient, hasty]) {
      await pass(10_000);
      await take();
    }

    await patient[name]();
    const refused = await hasty[name]().then(undefined, (error: unknown) => error);

    expect(patient.clock.now()).toBe(10_096);
    expect(refused).toEqual(new PaceWaitError(96, 95));
    expect(hasty.clock.now()).toBe(10_000);
  });

  test('no longer than until a 429 makes its slot too far off', async () => {
    const { slots, take, begin, clock, virtual } = createWorker({ maxWaitMs: 500 });
    const slot = await take();
    const refused = begin().then(undefined, (error: unknown) => ({ error, atMs: clock.now() }));
    await virtual.run(50);

    await slots.throttled(slot, 1_000);
    await virtual.run(1_000);

    expect(await refused).toMatchObject({ error: { name: 'PaceWaitError' }, atMs: 50 });
  });
});

test('a call is let through as long before its slot as it prepares', async () => {
  const { take, pass, approach } = createWorker();
  await pass(10_000);
  await take();

  expect(await approach(0, 50)).toBe(10_046);
});

test('a call is due when its slot was, and those behind it no sooner than now', async () => {
  const { slots, take, pass } = createWorker();
  await take();
  await pass(10_000);

  expect([0, 1, 2].map((ahead) => slots.dueAtMs(ahead))).toEqual([96, 10_096, 10_197]);
});

describe('a 429', () => {
  test('of a call that left before the last one changes nothing', async () => {
    const { slots, take, pass } = createWorker();
    const [first, second] = [await take(), await take()];
    await pass(4);

    await slots.throttled({ ...second, atMs: 96 }, 10_000);
    await slots.throttled({ ...first, atMs: 99 }, 10_000);

    expect(slots.counts()).toMatchObject({ throttled: 2, effectiveRate: 7 });
    expect(slots.dueAtMs(0)).toBe(100 + 10_000 - 5);
  });

  test.each([
    ['a millisecond before the last one', 99, 10_095],
    ['at the moment of the last one', 100, 1_595],
  ])('of a call that left %s', async (_, atMs, dueMs) => {
    const { slots, take, pass } = createWorker();
    const slot = await take();
    await pass(100);
    await slots.throttled(slot, 10_000);

    await slots.throttled({ ...slot, atMs }, 10_000);

    expect(slots.dueAtMs(0)).toBe(dueMs);
  });

  test('of a probe prolongs the pause and lowers nothing', async () => {
    const { slots, take } = createWorker();
    await slots.throttled(await take(), 1_000);

    await slots.throttled(await take(), 1_000);

    expect(slots.counts()).toMatchObject({ throttled: 2, effectiveRate: 7 });
    expect(slots.dueAtMs(0)).toBe(1_290);
  });

  test('of a call that left while another was accepted lowers the rate again', async () => {
    const { slots, take } = createWorker();
    await slots.throttled(await take(), 1_000);
    const [accepted, refused] = [await take(), await take()];

    slots.ended(accepted, true);
    await slots.throttled(refused, 1_000);

    expect(slots.counts().effectiveRate).toBeCloseTo(4.9);
  });
});

describe('after a 429, probes leave a second apart', () => {
  test('as long as none was accepted: one that gave its slot back was not, however long ago', async () => {
    const { slots, take, pass } = createWorker();
    await slots.throttled(await take(), 1_000);
    const probe = await take();

    slots.giveBack(probe);
    await pass(3_000);
    const [next, last] = [await take(), await take()];

    expect(last.atMs - next.atMs).toBe(995);
  });

  test('and no more once one was, which a call that prepares learns too', async () => {
    const { slots, take, approach } = createWorker();
    await slots.throttled(await take(), 1_000);
    const probe = await take();

    slots.ended(probe, true);

    expect((await approach()) - probe.atMs).toBeLessThan(200);
  });
});
