import { describe, expect, test } from 'vitest';
import type { Scan } from '../../../../lib/snapshot/scan.ts';
import { createdScan } from '../../../../lib/snapshot/sources/calculations/created-scan.ts';
import { offsetScan } from '../../../../lib/snapshot/sources/calculations/offset-scan.ts';
import type { ReadPage } from '../../../../lib/snapshot/sources/calculations/pages.ts';
import {
  NO_PROGRESS,
  type Progress,
  refuseStall,
} from '../../../../lib/snapshot/sources/calculations/progress.ts';
import { unorderedScan } from '../../../../lib/snapshot/sources/calculations/unordered-scan.ts';
import { fromBeginning, scanned } from '../../scanned.ts';
import { pageOf } from '../../simulated-platform.ts';

/*
 * A platform with a highest row that only the first request shows, as a row that we may not read might be: the row that
 * ends the scan never comes.
 */

const LAST = 1_000_000_000;

/** The rows from an offset on; there are `added` more of them at each request. */
function growing(rows: number, added: number): ReadPage {
  let length = rows;
  return async ({ ascending, offset, limit }) => {
    length += added;
    const page = Array.from(
      { length: Math.max(0, Math.min(limit, length - offset)) },
      (_, at) => offset + at + 1,
    );
    return pageOf((ascending ? page : [LAST, LAST - 1]).map((id) => ({ id, created: id })));
  };
}

type Options = { readonly readPage: ReadPage; readonly limit: number };

/** Runs a scan of an endless list from its first step on, as if so many pages had been read by then. */
async function readOn<Position extends Progress>(scan: Scan<Position>, pages: number): Promise<void> {
  let first = await scan(fromBeginning).next();
  if (first.value !== undefined && 'batch' in first.value && first.value.batch.records === 0)
    first = await scan({ ...fromBeginning, from: first.value.position }).next();
  if (first.done) throw new Error('the list has an end');
  const from = { ...first.value.position, pages };
  for await (const _ of scan({ ...fromBeginning, from }));
}

const kinds = [
  {
    order: 'by id',
    end: (options: Options) => scanned(offsetScan(options)),
    endOfLong: (options: Options) => readOn(offsetScan(options), 99_990),
  },
  {
    order: 'by creation time',
    end: (options: Options) => scanned(createdScan(options)),
    endOfLong: (options: Options) => readOn(createdScan(options), 99_990),
  },
  {
    order: 'without an order',
    end: (options: Options) => scanned(unorderedScan(options)),
    endOfLong: (options: Options) => readOn(unorderedScan(options), 99_990),
  },
];

describe.each(kinds)('a scan $order', ({ order, end, endOfLong }) => {
  test('whose pages each bring new rows, without an end, ends after 100,000 pages', async () => {
    await expect(endOfLong({ readPage: growing(250, 100), limit: 100 })).rejects.toMatchObject({
      failure: { kind: 'endless', pages: 100_000 },
    });
  });

  test('whose pages bring nothing new ends with an error', async () => {
    const readPage = growing(250, 0);
    const again: ReadPage = (request) => readPage({ ...request, offset: request.offset % 250 });

    await expect(end({ readPage: again, limit: 100 })).rejects.toThrow(
      order === 'by creation time' ? 'than a page has' : /^the scan made no progress: \d\d pages up to row/,
    );
  });
});

test('a platform whose pages are always small is read to its end', async () => {
  const rows = Array.from({ length: 3_000 }, (_, at) => ({ id: at + 1 }));
  const readPage: ReadPage = async ({ ascending, offset }) =>
    pageOf(ascending ? rows.slice(offset, offset + 10) : rows.slice(-2).toReversed());

  const { keys } = await scanned(offsetScan({ readPage, limit: 100 }));

  expect(keys).toHaveLength(3_000);
});

test('64 pages may bring nothing new, and as many as were read before; and there are at most 100,000', () => {
  const refused = (progress: Partial<Progress>) => () =>
    refuseStall({ ...NO_PROGRESS, next: 7, ...progress });

  expect(refused({})).not.toThrow();
  expect(refused({ pages: 64, idle: 64 })).not.toThrow();
  expect(refused({ pages: 65, idle: 65 })).toThrow(
    'the scan made no progress: 65 pages up to row 7 brought nothing new',
  );
  expect(refused({ pages: 84, idle: 74 })).not.toThrow();
  expect(refused({ pages: 85, idle: 75 })).toThrow('75 pages');
  expect(refused({ pages: 99_999 })).not.toThrow();
  expect(refused({ pages: 100_000 })).toThrow('searchCalculations (calculations)');
});
