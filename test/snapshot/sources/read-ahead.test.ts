import { once } from 'node:events';
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

test('a failure aborts the other reads, and is thrown after the results before it', async () => {
  const aborted: number[] = [];
  const read = async (item: number, signal: AbortSignal) => {
    if (item === 0) return item;
    if (item === 1) throw new Error('no item 1');
    await once(signal, 'abort');
    aborted.push(item);
    throw new Error('aborted');
  };
  const results: number[] = [];
  const all = async () => {
    for await (const result of readAhead({ items: [0, 1, 2, 3, 4], read, concurrency: 4 }))
      results.push(result);
  };

  await expect(all()).rejects.toThrow('no item 1');

  expect(results).toEqual([0]);
  expect(aborted).toEqual([2, 3]);
});

test('the other reads are aborted if no more results are wanted', async () => {
  const signals: AbortSignal[] = [];
  const read = async (item: number, signal: AbortSignal) => {
    signals.push(signal);
    return item;
  };

  for await (const _ of readAhead({ items: [0, 1, 2, 3], read, concurrency: 2 })) break;

  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
});

test('an abort by the caller reaches the reads, and is thrown in place of results that came too late', async () => {
  const stop = new AbortController();
  const signals: AbortSignal[] = [];
  const read = async (item: number, signal: AbortSignal) => {
    signals.push(signal);
    if (item === 1) stop.abort(new Error('stopped'));
    return item;
  };
  const all = () =>
    Array.fromAsync(readAhead({ items: [0, 1, 2], read, concurrency: 2, signal: stop.signal }));

  await expect(all()).rejects.toThrow('stopped');
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);

  await expect(all()).rejects.toThrow('stopped');
  expect(signals).toHaveLength(2);
});

test('only the sizes of the latest results decide how many are read ahead', async () => {
  const reads: number[] = [];
  const ahead: number[] = [];
  const read = async (item: number) => {
    reads.push(item);
    return item;
  };
  const sizeOf = (item: number) => (item === 0 ? 40 : 1) * MB;

  for await (const item of readAhead({ items: [...Array(8).keys()], read, concurrency: 3, sizeOf }))
    ahead.push(reads.length - item);

  expect(ahead).toEqual([1, 1, 1, 4, 4, 3, 2, 1]);
});
