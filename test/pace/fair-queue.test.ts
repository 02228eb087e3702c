import { expect, test } from 'vitest';
import type { Priority } from '../../lib/pace/fair-queue.ts';
import { createProcessPace } from '../../lib/pace/fleet-pace.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** Queues calls in this order, lets ten a second leave, one in flight at a time, and returns the order in which they leave. */
async function leaving(
  arrivals: readonly { readonly priority: Priority; readonly count: number; readonly atMs?: number }[],
) {
  const clock = createVirtualClock();
  const pace = createProcessPace({ rate: 10, concurrency: 4, ...clock });
  const departed: string[] = [];
  for (const { priority, count, atMs = 0 } of arrivals) {
    const begin = async () => {
      if (atMs > 0) await clock.sleep(atMs);
      for (let number = 1; number <= count; number += 1)
        void pace.run(async () => void departed.push(`${priority} ${number}`), { priority });
    };
    void begin();
  }
  await clock.run(60_000);
  return departed;
}

const countOf = (departed: readonly string[], priority: Priority) =>
  departed.filter((each) => each.startsWith(priority)).length;

test('calls of one priority leave in the order in which they came', async () => {
  const departed = await leaving([{ priority: 'bulk', count: 30 }]);

  expect(departed).toEqual(Array.from({ length: 30 }, (_, index) => `bulk ${index + 1}`));
});

test('an urgent call waits for a few calls of a batch, not for all of them', async () => {
  const departed = await leaving([
    { priority: 'bulk', count: 200 },
    { priority: 'high', count: 1, atMs: 5_000 },
  ]);

  const before = departed.indexOf('high 1') - 50;
  expect(before).toBeLessThanOrEqual(5);
});

test('a priority that had no calls for a while does not get the missed turns later', async () => {
  const departed = await leaving([
    { priority: 'bulk', count: 200 },
    { priority: 'normal', count: 100, atMs: 10_000 },
  ]);

  expect(countOf(departed.slice(110, 160), 'bulk')).toBeGreaterThanOrEqual(8);
});

test('while calls of all priorities wait, each priority gets its share, and none is starved', async () => {
  const departed = await leaving([
    { priority: 'bulk', count: 200 },
    { priority: 'normal', count: 200 },
    { priority: 'high', count: 200 },
  ]);

  const first = departed.slice(4, 134);
  expect(countOf(first, 'high')).toBeGreaterThanOrEqual(76);
  expect(countOf(first, 'normal')).toBeGreaterThanOrEqual(36);
  expect(countOf(first, 'bulk')).toBeGreaterThanOrEqual(8);
});
