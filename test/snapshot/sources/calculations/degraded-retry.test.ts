import { expect, test } from 'vitest';
import { readUndegraded } from '../../../../lib/snapshot/sources/calculations/degraded-retry.ts';

/** Reads a page that is degraded so many times, and how long it waited with which signal. */
async function read(degradedTimes: number) {
  const { signal } = new AbortController();
  const waits: unknown[] = [];
  let reads = 0;
  const readPage = async () => {
    reads += 1;
    return { degraded: reads <= degradedTimes, reads };
  };
  const sleep = async (ms: number, with_?: AbortSignal) => void waits.push([ms, with_ === signal]);
  return { page: await readUndegraded(readPage, sleep, signal), waits };
}

test('a page is read once if it is not degraded', async () => {
  expect(await read(0)).toEqual({ page: { degraded: false, reads: 1 }, waits: [] });
});

test('a degraded page is read again after longer and longer waits', async () => {
  expect(await read(2)).toEqual({
    page: { degraded: false, reads: 3 },
    waits: [
      [1_000, true],
      [2_000, true],
    ],
  });
});

test('a page that stays degraded is read five times, and then taken as it is', async () => {
  const { page, waits } = await read(100);

  expect(page).toEqual({ degraded: true, reads: 5 });
  expect(waits).toEqual([
    [1_000, true],
    [2_000, true],
    [4_000, true],
    [8_000, true],
  ]);
});
