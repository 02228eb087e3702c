import PQueue from 'p-queue';
import { describe, expect, test } from 'vitest';
import { checkLimits, createGatedPace } from '../../lib/pace/gated-pace.ts';
import type { Pace, Slot } from '../../lib/pace/pace.ts';
import { PaceWaitError } from '../../lib/pace/pace-wait-error.ts';
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

test('a slot may be used until its last moment', async () => {
  let nowMs = 0;
  const clock = { now: () => nowMs, sleep: limits.sleep };
  const { source, givenBack } = createSource(clock, 10);
  const slow: SlotSource = {
    ...source,
    async take(request) {
      const slot = await source.take(request);
      nowMs += 10;
      return slot;
    },
  };
  const pace = createGatedPace({ source: slow, inFlight: new PQueue({ concurrency: 8 }), ...limits, clock });

  expect(await pace.run(async ({ atMs }) => atMs)).toBe(0);
  expect(givenBack).toEqual([]);
});

test('a call that would wait too long is refused, and one that waits for just that long is not', async () => {
  const clock = createVirtualClock();
  const { source, demands } = createSource(clock);
  const busy: SlotSource = { ...source, dueAtMs: () => clock.now() + 5_000 };
  const run = (maxWaitMs: number) =>
    createGatedPace({ source: busy, inFlight: new PQueue({ concurrency: 8 }), maxWaitMs, clock }).run(
      async () => 'left',
    );

  await expect(run(4_999)).rejects.toThrow(PaceWaitError);
  expect(demands).toEqual([]);
  expect(await run(5_000)).toBe('left');
});

test('reports of each slot whether its call was accepted: not if it failed, was refused or throttled', async () => {
  const clock = createVirtualClock();
  const { source, demands } = createSource(clock);
  const accepted: boolean[] = [];
  const reported: SlotSource = { ...source, ended: (_, isAccepted) => void accepted.push(isAccepted) };
  const pace = createGatedPace({
    source: reported,
    inFlight: new PQueue({ concurrency: 8 }),
    ...limits,
    clock,
  });

  await pace.run(async () => 200);
  await pace.run(async () => 503, { isAccepted: (status) => status < 500 });
  await pace.run((slot) => Promise.resolve(pace.throttled(slot)));
  await pace.run(() => Promise.reject(new Error('lost'))).catch(() => undefined);

  expect(accepted).toEqual([true, false, false, false]);
  expect(demands.map(({ arrived }) => arrived)).toEqual([1, 2, 3, 4]);
});

test.for([
  [{ rate: Number.POSITIVE_INFINITY, concurrency: 1 }, /^rate/],
  [{ rate: 0, concurrency: 1 }, /^rate/],
  [{ rate: 1, concurrency: 0 }, /^concurrency/],
  [{ rate: 1, concurrency: 1.5 }, /^concurrency/],
  [{ rate: 1, concurrency: 1, maxWaitMs: -1 }, /^maxWaitMs/],
  [{ rate: 1, concurrency: 1, maxWaitMs: Number.NaN }, /^maxWaitMs/],
] as const)('the limits %o are refused', ([given, message]) => {
  expect(() => checkLimits(given)).toThrow(message);
  expect(() => checkLimits({ rate: 1, concurrency: 1, maxWaitMs: 0 })).not.toThrow();
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

describe('while calls prepare', () => {
  /** Two calls that prepare for 200 ms, two that need not, and one that has no place in flight. */
  async function runFive(pace: Pace, clock: ReturnType<typeof createVirtualClock>) {
    const prepare = () => clock.sleep(200);
    const call = () => clock.sleep(50);
    const preparing = [pace.run(call, { prepare }), pace.run(call, { prepare })];
    await clock.run(clock.now() + 100);
    const others = [pace.run(call), pace.run(call), pace.run(call)];
    await clock.run();
    await Promise.all([...preparing, ...others]);
  }

  test('a slot is requested with one of them until it is known how long that takes, and then with all', async () => {
    const clock = createVirtualClock();
    const { source, demands } = createSource(clock);
    const aheads: number[] = [];
    const watched: SlotSource = {
      ...source,
      dueAtMs(ahead) {
        aheads.push(ahead);
        return clock.now();
      },
    };
    const inFlight = new PQueue({ concurrency: 4 });
    const pace = createGatedPace({ source: watched, inFlight, ...limits, clock });

    await runFive(pace, clock);
    const [, first] = demands.splice(0);
    await runFive(pace, clock);
    const [, later] = demands;

    // By the second call that need not prepare: the fifth call then waits for a place.
    expect(first).toMatchObject({ waiting: 2, queued: 0, latencyMs: 0, leadMs: 0 });
    expect(later).toMatchObject({ waiting: 3, queued: 1, latencyMs: 250, leadMs: 200 });
    expect(aheads).toEqual([0, 1, 2, 3, 2, 0, 1, 2, 3, 2]);
  });
});
