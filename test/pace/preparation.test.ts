import { expect, test } from 'vitest';
import { createPreparation } from '../../lib/pace/preparation.ts';
import type { ApproachRequest, SlotRequest, SlotSource } from '../../lib/pace/slots.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** Preparations whose calls are let through at once, and how each found the calls ahead when it asked. */
function createPreparing() {
  const clock = createVirtualClock();
  const found: ReturnType<ApproachRequest['ahead']>[] = [];
  const source: Pick<SlotSource, 'approach'> = {
    approach: async ({ ahead }) => void found.push(ahead()),
  };
  const preparation = createPreparation({ source: source as SlotSource, clock, ready: () => 0 });
  const request = (): SlotRequest => ({
    calledAt: clock.now,
    signal: undefined,
    demand: () => ({ waiting: 1, queued: 0, arrived: 1, concurrency: 8, latencyMs: 0, leadMs: 0 }),
  });
  /** Prepares a call for this long. */
  const prepare = (ms: number) => preparation.prepare(request(), () => clock.sleep(ms));
  return { clock, found, prepare, preparation };
}

test('a call ahead counts until it takes 5 ms longer than recent ones did', async () => {
  const { clock, found, prepare } = createPreparing();
  const measured = prepare(40);
  await clock.run();
  await measured;

  const slow = prepare(1_000);
  await clock.run(60);
  const second = prepare(1_000);
  await clock.run(84);
  const third = prepare(1_000);
  await clock.run(85);
  const fourth = prepare(1_000);
  await clock.run();
  await Promise.all([slow, second, third, fourth]);

  // The slow one began at 40, so it is late from 85 on; the second from 105 on, and the third from 129 on.
  expect(found.slice(1)).toEqual([
    { calls: 0, forMs: Number.POSITIVE_INFINITY },
    { calls: 1, forMs: 25 },
    { calls: 2, forMs: 1 },
    { calls: 2, forMs: 20 },
  ]);
});

test('a call ahead is looked at again after a millisecond at the earliest', async () => {
  const { clock, found, prepare } = createPreparing();
  const measured = prepare(40);
  await clock.run();
  await measured;

  const slow = prepare(1_000);
  await clock.run(84.5);
  const second = prepare(1);
  await clock.run();
  await Promise.all([slow, second]);

  expect(found.at(-1)).toEqual({ calls: 1, forMs: 1 });
});
