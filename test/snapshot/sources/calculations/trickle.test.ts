import { describe, expect, test } from 'vitest';
import type { Scan } from '../../../../lib/snapshot/scan.ts';
import { createdScan } from '../../../../lib/snapshot/sources/calculations/created-scan.ts';
import { offsetScan } from '../../../../lib/snapshot/sources/calculations/offset-scan.ts';
import {
  afterPage,
  NO_TRICKLE,
  refuseTrickle,
  type Trickle,
} from '../../../../lib/snapshot/sources/calculations/trickle.ts';
import { unorderedScan } from '../../../../lib/snapshot/sources/calculations/unordered-scan.ts';
import { fromBeginning, scanned } from '../../scanned.ts';

import { createdPage } from '../../simulated-creations.ts';
import { simulatedPage } from '../../simulated-platform.ts';

/*
 * A platform with a highest row that only the first request shows, as a row that we may not read might be, and with new
 * rows at each request: the row that ends the scan never comes.
 */

const LAST = 1_000_000_000;
const MOST_REQUESTS = 2_000;

/** The rows from an offset on; there are `added` more of them at each request. */
function growing(rows: number, added: number) {
  let [length, requests] = [rows, 0];
  return {
    requests: () => requests,
    page({ offset, limit }: { readonly offset: number; readonly limit: number }): readonly number[] {
      requests += 1;
      if (requests > MOST_REQUESTS) throw new Error('the scan did not end');
      length += added;
      return Array.from(
        { length: Math.max(0, Math.min(limit, length - offset)) },
        (_, at) => offset + at + 1,
      );
    },
  };
}

type Platform = ReturnType<typeof growing>;

const quick = { limit: 100, sleep: async () => undefined };

const byId = ({ page }: Platform) =>
  offsetScan({
    ...quick,
    readPage: async (request) => simulatedPage(request.ascending ? page(request) : [LAST]),
  });

const byTime = ({ page }: Platform) =>
  createdScan({
    ...quick,
    readPage: async (request) =>
      createdPage((request.ascending ? page(request) : [LAST, LAST - 1]).map((id) => ({ id, created: id }))),
  });

const withoutOrder = ({ page }: Platform) =>
  unorderedScan({ ...quick, readPage: async (request) => createdPage(page(request).map((id) => ({ id }))) });

/** Runs a scan of an endless list from its first step on, as if so many pages had been read by then. */
async function readOn<Position extends { readonly trickle: Trickle }>(
  scan: Scan<Position>,
  read: number,
): Promise<void> {
  const first = await scan(fromBeginning).next();
  if (first.done) throw new Error('the list has an end');
  const from = { ...first.value.position, trickle: { largest: 100, pages: 0, read } };
  for await (const _ of scan({ ...fromBeginning, from }));
}

/** Runs a scan that is stopped after each step and resumed where it was, as a run in short slices is. */
async function oneStepEach<Position>(scan: Scan<Position>): Promise<void> {
  for (let from: Position | undefined; ; ) {
    const steps = scan({ ...fromBeginning, from });
    const { done, value } = await steps.next();
    if (done) return;
    from = JSON.parse(JSON.stringify(value.position));
    await steps.return(undefined as never);
  }
}

describe.each([
  {
    order: 'by id',
    scan: (platform: Platform) => scanned(byId(platform)),
    resumed: (platform: Platform) => oneStepEach(byId(platform)),
    lengthened: (read: number) => readOn(byId(growing(250, 100)), read),
  },
  {
    order: 'by creation time',
    scan: (platform: Platform) => scanned(byTime(platform)),
    resumed: (platform: Platform) => oneStepEach(byTime(platform)),
    lengthened: (read: number) => readOn(byTime(growing(250, 100)), read),
  },
  {
    order: 'without an order',
    scan: (platform: Platform) => scanned(withoutOrder(platform)),
    resumed: (platform: Platform) => oneStepEach(withoutOrder(platform)),
    lengthened: (read: number) => readOn(withoutOrder(growing(250, 100)), read),
  },
])('a scan $order', ({ scan, resumed, lengthened }) => {
  test.each([1, 3, 5])(
    'that is followed by %i new rows at each request ends with an error',
    async (added) => {
      const platform = growing(250, added);

      await expect(scan(platform)).rejects.toThrow(
        /^the scan made no progress: 257 pages up to row \d+ brought at most 16 new rows each, and none the last one$/,
      );

      expect(platform.requests()).toBeLessThan(400);
    },
  );

  test('whose pages each bring many new rows, without an end, ends after 100,000 pages', async () => {
    await expect(lengthened(99_990)).rejects.toMatchObject({
      failure: { kind: 'endless', pages: 100_000 },
    });
  });

  test('ends with it even if it is stopped and resumed at each step', async () => {
    await expect(resumed(growing(250, 1))).rejects.toThrow('the scan made no progress');
  });
});

test('a platform whose pages are always small is read to its end', async () => {
  const rows = Array.from({ length: 5_000 }, (_, at) => at + 1);
  const readPage = async ({ ascending, offset }: { readonly ascending: boolean; readonly offset: number }) =>
    simulatedPage(ascending ? rows.slice(offset, offset + 10) : rows.slice(-2).toReversed());

  const { keys } = await scanned(offsetScan({ ...quick, readPage }));

  expect(keys).toHaveLength(5_000);
});

describe('a page is part of a trickle', () => {
  const trickle = { largest: 64, pages: 3, read: 9 };

  test('if it has at most 16 new rows, where one had at least 64', () => {
    expect(afterPage(NO_TRICKLE, 64, 16)).toEqual({ largest: 64, pages: 1, read: 1 });
    expect(afterPage(trickle, 5, 16)).toEqual({ largest: 64, pages: 4, read: 10 });
    expect(afterPage({ ...NO_TRICKLE, largest: 63 }, 5, 5)).toEqual({ largest: 63, pages: 0, read: 1 });
  });

  test('and more new rows end it', () => {
    expect(afterPage(trickle, 70, 17)).toEqual({ largest: 70, pages: 0, read: 10 });
  });

  test('but not if it has none', () => {
    expect(afterPage(trickle, 70, 0)).toEqual({ largest: 70, pages: 3, read: 10 });
  });
});

test('a trickle is refused after more than 256 pages, and any list after 100,000', () => {
  const refused = (trickle: Trickle) => () => refuseTrickle(trickle, 7);

  expect(refused(NO_TRICKLE)).not.toThrow();
  expect(refused({ largest: 64, pages: 256, read: 99_999 })).not.toThrow();
  expect(refused({ largest: 64, pages: 257, read: 300 })).toThrow(
    'the scan made no progress: 257 pages up to row 7 brought at most 16 new rows each, and none the last one',
  );
  expect(refused({ largest: 64, pages: 0, read: 100_000 })).toThrow('searchCalculations (calculations)');
});
