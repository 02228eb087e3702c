import { expect, test } from 'vitest';
import { createGatedPace } from '../../lib/pace/fleet-pace.ts';
import type { createFleetSlots } from '../../lib/pace/fleet-slots.ts';
import type { Slot } from '../../lib/pace/pace.ts';
import type { Demand } from '../../lib/pace/reserve-block.ts';
import { createVirtualClock } from './virtual-clock.ts';

type SlotSource = ReturnType<typeof createFleetSlots>;

/** A source of slots that grants each immediately. A slot may be used for `usableMs`. */
function createSource(clock: { readonly now: () => number }, usableMs = Number.POSITIVE_INFINITY) {
  const demands: Demand[] = [];
  const givenBack: Slot[] = [];
  const source: SlotSource = {
    async take({ demand }) {
      demands.push(demand());
      return { atMs: clock.now(), waitedMs: 0, untilMs: clock.now() + usableMs };
    },
    waitUntilDue: async () => undefined,
    wake: () => undefined,
    giveBack: (slot) => void givenBack.push(slot),
    dueAtMs: () => clock.now(),
    throttled: async () => undefined,
    ended: () => undefined,
    counts: () => ({ granted: 0, used: 0, wasted: 0, waitedMs: 0, throttled: 0, effectiveRate: 1 }),
  };
  return { source, demands, givenBack };
}

const limits = { maxWaitMs: Number.POSITIVE_INFINITY, sleep: async () => undefined };

test('a slot may be used until the last moment at which it is valid', async () => {
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
  const pace = createGatedPace({ source: slow, concurrency: 8, ...limits, clock });

  expect(await pace.run(async ({ atMs }) => atMs)).toBe(0);
  expect(givenBack).toEqual([]);
});

test('a pace reports for each slot whether its call was accepted, and a failed, refused or throttled call was not', async () => {
  const clock = createVirtualClock();
  const { source, demands } = createSource(clock);
  const accepted: boolean[] = [];
  const reported: SlotSource = { ...source, ended: (_, isAccepted) => void accepted.push(isAccepted) };
  const pace = createGatedPace({
    source: reported,
    concurrency: 8,
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

test('a call whose process is suspended between its slot and its departure takes another slot', async () => {
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
    concurrency: 8,
    ...limits,
    clock,
  });

  const leftIn = await pace.run(async ({ atMs }) => atMs);

  expect(leftIn).toBe(40);
  expect(givenBack).toMatchObject([{ atMs: 0 }]);
});
