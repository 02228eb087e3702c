import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readAhead } from '../../../lib/snapshot/sources/read-ahead.ts';

const MOST_BYTES = 100;

const moment = () => new Promise((resolve) => setImmediate(resolve));

/** Reads results of these sizes; `held` are those that are neither released nor given back. */
function createReads(sizes: readonly number[], arrive: () => Promise<unknown>) {
  const reads: number[] = sizes.map(() => 0);
  const held = new Set<number>();
  let [underWay, mostUnderWay, mostHeld] = [0, 0, 0];
  return {
    reads,
    held,
    mostHeld: () => mostHeld,
    mostUnderWay: () => mostUnderWay,
    async read(item: number): Promise<number> {
      reads[item] = (reads[item] ?? 0) + 1;
      underWay += 1;
      mostUnderWay = Math.max(mostUnderWay, underWay);
      await arrive();
      underWay -= 1;
      held.add(item);
      return item;
    },
    memory: {
      mostBytes: MOST_BYTES,
      sizeOf(item: number) {
        const all = [...held].reduce((sum, each) => sum + (sizes[each] ?? 0), 0);
        // What has just arrived is released at once if there is no room for it.
        mostHeld = Math.max(mostHeld, all - (sizes[item] ?? 0));
        return sizes[item] ?? 0;
      },
      release: (item: number) => void held.delete(item),
    },
  };
}

test('all results come in order, whatever their sizes; what there is no memory for is read once more', async () => {
  const sizes = fc.array(fc.oneof(fc.nat(30), fc.nat(250)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      sizes,
      fc.integer({ min: 1, max: 8 }),
      async (scheduler, bytes, concurrency) => {
        const reads = createReads(bytes, () => scheduler.schedule(Promise.resolve()));
        const items = bytes.map((_, item) => item);
        const results: number[] = [];

        const { read, memory } = reads;
        const all = (async () => {
          for await (const result of readAhead({ items, read, concurrency, memory })) {
            await scheduler.schedule(Promise.resolve());
            results.push(result);
            reads.held.delete(result);
          }
        })();
        await scheduler.waitFor(all);

        expect(results).toEqual(items);
        expect(Math.max(0, ...reads.reads)).toBeLessThanOrEqual(2);
        expect(reads.mostHeld()).toBeLessThanOrEqual(MOST_BYTES + Math.max(0, ...bytes));
        expect(reads.mostUnderWay()).toBeLessThanOrEqual(concurrency);
      },
    ),
    { numRuns: 60 },
  );
});

test('small results are read once, as many at a time as the concurrency allows', async () => {
  const reads = createReads(Array(40).fill(2), moment);
  const { read, memory } = reads;

  for await (const result of readAhead({ items: [...reads.reads.keys()], read, concurrency: 8, memory }))
    reads.held.delete(result);

  expect(reads.reads).toEqual(Array(40).fill(1));
  expect(reads.mostUnderWay()).toBe(8);
});

test('after large results, fewer are read ahead, so that hardly any is read twice', async () => {
  const reads = createReads(Array(40).fill(90), moment);
  const { read, memory } = reads;

  for await (const result of readAhead({ items: [...reads.reads.keys()], read, concurrency: 8, memory })) {
    for (let wait = 0; wait < 5; wait += 1) await moment();
    reads.held.delete(result);
  }

  // Only those that were under way before anything was known.
  expect(reads.reads.slice(0, 8).filter((times) => times > 1)).toHaveLength(7);
  expect(reads.reads.slice(8)).toEqual(Array(32).fill(1));
});

test('an item whose turn it is by the time its result arrives is read once', async () => {
  const reads: number[] = [];
  const first = Promise.withResolvers<void>();
  const results: number[] = [];
  const read = async (item: number) => {
    reads.push(item);
    if (item === 2) await first.promise;
    return item;
  };
  const memory = {
    mostBytes: MOST_BYTES,
    sizeOf: (item: number) => (item === 2 ? 250 : 1),
    release: () => undefined,
  };

  for await (const result of readAhead({ items: [0, 1, 2], read, concurrency: 3, memory })) {
    results.push(result);
    if (result === 1) setImmediate(first.resolve);
  }

  expect(results).toEqual([0, 1, 2]);
  expect(reads).toEqual([0, 1, 2]);
});
