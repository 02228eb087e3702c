import PQueue from 'p-queue';
import { expect, test } from 'vitest';
import { createGatedPace } from '../../lib/pace/gated-pace.ts';
import type { Slot } from '../../lib/pace/pace.ts';
import type { Demand, SlotSource } from '../../lib/pace/slots.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** A source that grants a slot at once; `untilMs` is how long each may be used. */
function createSource(clock: { readonly now: () => number }, usableMs = Number.POSITIVE_INFINITY) {
  const demands: Demand[] = [];
  const givenBack: Slot[] = [];
  const source: SlotSource = {
    async take({ demand }) {
      demands.push(demand());
      return { atMs: clock.now(), waitedMs: 0, untilMs: clock.now() + usableMs };
    },
    approach: async () => undefined,
    giveBack: (slot) => givenBack.push(slot),
    dueAtMs: () => clock.now(),
    throttled: async () => undefined,
    ended: () => undefined,
    counts: () => ({
      granted: 0,
      used: 0,
      wasted: 0,
      waitedMs: 0,
      throttled: 0,
      safeRate: 0,
      effectiveRate: 1,
    }),
  };
  return { source, demands, givenBack };
}

const limits = { maxWaitMs: Number.POSITIVE_INFINITY, sleep: async () => undefined };

test('a process that was stopped during a call does not take its calls for hour-long ones', async () => {
  const clock = createVirtualClock();
  const { source, demands } = createSource(clock);
  const pace = createGatedPace({ source, inFlight: new PQueue({ concurrency: 8 }), ...limits, clock });
  const call = async (tookMs: number) => {
    const called = pace.run(() => clock.sleep(tookMs));
    await clock.run();
    await called;
  };

  for (const tookMs of [20, 20, 3_600_000, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20])
    await call(tookMs);

  expect(demands.at(-1)?.latencyMs).toBeLessThan(100);
});

test('a slot is requested with how long the calls before took, the newest of them counting for a fifth', async () => {
  const clock = createVirtualClock();
  const { source, demands } = createSource(clock);
  const pace = createGatedPace({ source, inFlight: new PQueue({ concurrency: 8 }), ...limits, clock });

  for (const tookMs of [400, 900, 1]) {
    const called = pace.run(() => clock.sleep(tookMs));
    await clock.run();
    await called;
  }

  expect(demands.map(({ latencyMs }) => latencyMs)).toEqual([0, 400, 500]);
});

test('a call that is stopped between its slot and its leaving takes another slot', async () => {
  let nowMs = 0;
  const clock = { now: () => nowMs, sleep: limits.sleep };
  const { source, givenBack } = createSource(clock, 10);
  const stopped: SlotSource = {
    ...source,
    async take(request) {
      const slot = await source.take(request);
      if (nowMs === 0) nowMs = 40;
      return slot;
    },
  };
  const pace = createGatedPace({
    source: stopped,
    inFlight: new PQueue({ concurrency: 8 }),
    ...limits,
    clock,
  });

  const leftIn = await pace.run(async ({ atMs }) => atMs);

  expect(leftIn).toBe(40);
  expect(givenBack).toMatchObject([{ atMs: 0 }]);
});
