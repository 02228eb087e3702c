import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readAhead } from '../../../lib/base/async.ts';

const MB = 1024 * 1024;

test('all results are returned in order, each read once; large ones are read ahead only if they fit', async () => {
  const sizes = fc.array(fc.oneof(fc.nat(2), fc.nat(100)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      sizes,
      fc.integer({ min: 1, max: 8 }),
      async (scheduler, bytes, concurrency) => {
        const reads: number[] = [];
        const results: number[] = [];
        let maxAhead = 0;
        const read = async (item: number) => {
          reads.push(item);
          maxAhead = Math.max(maxAhead, reads.length - results.length);
          await scheduler.schedule(Promise.resolve());
          return item;
        };
        const sizeOf = (item: number) => (bytes[item] ?? 0) * MB;
        const items = bytes.map((_, item) => item);

        const all = (async () => {
          for await (const result of readAhead({ items, read, concurrency, sizeOf })) {
            await scheduler.schedule(Promise.resolve());
            results.push(result);
          }
        })();
        await scheduler.waitFor(all);

        expect(results).toEqual(items);
        expect(reads).toEqual(items);
        const smallest = Math.min(...bytes);
        expect(maxAhead).toBeLessThanOrEqual(
          Math.max(1, Math.min(concurrency + 1, 64 / Math.max(smallest, 1))),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test('without sizes, the concurrency limits how many results are read ahead', async () => {
  let [underWay, most] = [0, 0];
  const read = async (item: number) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    return item;
  };

  const results = await Array.fromAsync(readAhead({ items: [...Array(40).keys()], read, concurrency: 8 }));

  expect(results).toEqual([...Array(40).keys()]);
  expect(most).toBe(8);
});
