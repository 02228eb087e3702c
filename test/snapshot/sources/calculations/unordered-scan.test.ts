import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Scan } from '../../../../lib/snapshot/scan.ts';
import {
  NO_PROGRESS,
  type Progress,
  type ReadPage,
} from '../../../../lib/snapshot/sources/calculations/pages.ts';
import { unorderedScan } from '../../../../lib/snapshot/sources/calculations/scan.ts';
import { scaled } from '../../../scale.ts';
import { fromBeginning, resumedEverywhere, scanned } from '../../scanned.ts';
import { idsPage } from '../../simulated-platform.ts';

const scanOf =
  (readPage: ReadPage): Scan<Progress> =>
  ({ from = NO_PROGRESS, ...start }) =>
    unorderedScan({ readPage, limit: 3 }, { ...start, from });

/** A platform with these ids in each round of pages; the last round is repeated. A round ends with an empty page. */
function roundsOf(...rounds: readonly (readonly number[])[]) {
  let round = 0;
  let requests = 0;
  const readPage: ReadPage = async ({ offset, limit }) => {
    requests += 1;
    const ids = rounds[Math.min(round, rounds.length - 1)] ?? [];
    const page = ids.slice(offset, offset + limit);
    if (page.length === 0) round += 1;
    return idsPage(page, ids.length);
  };
  return { readPage, rounds: () => round, requests: () => requests };
}

test('an unordered scan takes each id once, in the order received, and is never proved', async () => {
  const { readPage } = roundsOf([3, 1, 3, 2, 1, 5, 4]);

  const { keys, outcome } = await scanned(scanOf(readPage));

  expect(keys).toEqual(['3', '1', '2', '5', '4']);
  expect(outcome).toEqual({
    consistency: 'best-effort',
    degradedPages: 0,
    assumes: [],
    totals: { start: 7, end: 7 },
    order: 'none',
    missing: [],
    refused: [],
    unnamed: 0,
  });
});

test('an unordered scan reads everything again until a round brings nothing new', async () => {
  const platform = roundsOf([1, 2, 3], [1, 2, 3, 4]);

  const { keys } = await scanned(scanOf(platform.readPage));

  expect(keys).toEqual(['1', '2', '3', '4']);
  expect(platform.rounds()).toBe(3);
});

test('an unordered scan ends after four rounds even if each brings something new', async () => {
  const platform = roundsOf([1], [2], [3], [4], [5]);

  const { keys } = await scanned(scanOf(platform.readPage));

  expect(keys).toEqual(['1', '2', '3', '4']);
});

test('an unordered scan leaves rows after twice the total at its start to the next run, since the list may grow forever', async () => {
  const ids = Array.from({ length: 60 }, (_, at) => at + 1);

  const { keys } = await scanned(
    scanOf(async ({ offset, limit }) => idsPage(ids.slice(offset, offset + limit), 6)),
  );

  expect(keys).toEqual(ids.slice(0, 15).map(String));
});

test('an unordered scan reads all rows of a platform that reports a total of 0', async () => {
  const ids = [1, 2, 3, 4, 5, 6, 7];

  const { keys } = await scanned(
    scanOf(async ({ offset, limit }) => idsPage(ids.slice(offset, offset + limit), 0)),
  );

  expect(keys).toEqual(['1', '2', '3', '4', '5', '6', '7']);
});

test('an unordered scan reports in its outcome that a page stayed degraded', async () => {
  const { readPage } = roundsOf([1, 2, 3]);
  const degraded: ReadPage = async (request) => ({ ...(await readPage(request)), degraded: true });

  const { outcome } = await scanned(scanOf(degraded));

  expect(outcome).toMatchObject({
    refused: ['degraded'],
    degradedPages: expect.toSatisfy((pages) => pages > 1),
  });
});

test('an unordered scan gives up on a platform that sends rows for every offset', async () => {
  const scan = scanOf(async () => idsPage([1, 2]));

  await expect(scanned(scan)).rejects.toThrow('the scan made no progress');
});

test('an unordered scan yields its position, without an order, before it reads anything', async () => {
  const platform = roundsOf([1, 2, 3]);

  const { value } = await scanOf(platform.readPage)(fromBeginning).next();

  expect(value).toMatchObject({ batch: { records: 0 }, position: { round: 1, next: 0, isNew: false } });
  expect(platform.requests()).toBe(0);
});

test('an unordered scan is resumed from each position, with the same rounds, totals and refusals', async () => {
  const readPage: ReadPage = async ({ offset }) => {
    const ids = [5, 1, 4, 2, 3, 7, 6].slice(offset, offset + 3);
    return { ...idsPage(ids, 90 + offset), degraded: offset === 0 };
  };

  const { whole, resumed } = await resumedEverywhere(scanOf(readPage));

  expect(whole.outcome).toMatchObject({ totals: { start: 90, end: 97 }, refused: ['degraded'] });
  expect(resumed).toHaveLength(4);
  for (const each of resumed) expect(each).toEqual(whole);
});

test('an unordered scan that is resumed in a pass with new records makes one more pass', async () => {
  const before = roundsOf([1, 2, 3]);
  const { positions } = await scanned(scanOf(before.readPage));
  const after = roundsOf([1, 2, 3], [4, 1, 2, 3]);

  const { keys } = await scanned(scanOf(after.readPage), {
    from: positions.at(-1)?.position,
    taken: ['1', '2', '3'],
  });

  expect(keys).toEqual(['4']);
});

test('a position has the progress of the scan', async () => {
  const platform = roundsOf([1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]);

  const { positions } = await scanned(scanOf(platform.readPage));

  const start = { ...NO_PROGRESS, round: 1, isNew: false };
  const totals = { start: 5, end: 5 };
  expect(positions.map(({ position }) => position)).toEqual([
    start,
    { ...start, next: 3, isNew: true, pages: 1, totals },
    { ...start, next: 5, isNew: true, pages: 2, totals },
    { ...start, round: 2, next: 6, isNew: true, pages: 5, totals: { start: 5, end: 6 } },
  ]);
});

test('rows in another order in every round are all taken once if every page is complete', async () => {
  const round = fc.uniqueArray(fc.nat(60), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 4 }), round, async (rounds, before) => {
      const taken = before.map(String);

      const { keys } = await scanned(scanOf(roundsOf(...rounds).readPage), { taken });

      expect(new Set(keys).size).toBe(keys.length);
      expect(new Set(keys).intersection(new Set(taken))).toEqual(new Set());
      expect([...keys, ...taken]).toEqual(expect.arrayContaining((rounds[0] ?? []).map(String)));
    }),
    { numRuns: scaled(100, 1_000) },
  );
});
