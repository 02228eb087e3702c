import type { Call, Id } from '../../../platform/index.ts';
import { searchCalculations } from '../../../platform/operations/search-calculations.ts';
import { foundBatch } from '../../page/found-batch.ts';
import { scanPage } from '../../page/page-scanner.ts';
import { emptyBatch, type RecordBatch } from '../../page/record-batch.ts';
import type { FoundRecords } from '../../page/record-finder.ts';
import { allDigits, digitsAt } from '../../page/record-index.ts';
import { scalarAt } from '../../page/value-at.ts';
import type { CalculationSelection } from './pages.ts';

/** One row of a page of calculations, as received: nothing in it is trusted yet. */
export type SortedRow = {
  readonly key: Id;
  /** When it was created: a number, text, or whatever the platform sent. */
  readonly sentCreated: unknown;
  /** Its page, and its place in it. */
  readonly found: FoundRecords;
  readonly row: number;
};

/** One page of calculations. */
export type SortedPage = {
  /** In the page's order. */
  readonly rows: readonly SortedRow[];
  /** True if the platform says that rows may be missing. */
  readonly degraded: boolean;
  /** The total number of rows as reported by the platform; null if it does not report it. */
  readonly total: number | null;
};

export type SortedPageRequest = {
  readonly ascending: boolean;
  readonly offset: number;
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
};

/** Reads the page of `limit` rows from `offset`, in the order of the field that the reader was made for. */
export type ReadSortedPage = (request: SortedPageRequest) => Promise<SortedPage>;

/** Reads pages of calculations in the order of `field`; a row only needs an id. Throws `PlatformError`. */
export const sortedPageReader =
  (call: Call, selection: CalculationSelection, field: 'id' | 'created'): ReadSortedPage =>
  ({ ascending, offset, limit, signal }) => {
    const body = { filters: [], ...selection, sort: { field, ascending }, limit, offset };
    return call.read(searchCalculations, { body }, sortedPageIn, { signal });
  };

/** The page in these bytes. Throws as `scanPage` does. */
export function sortedPageIn(bytes: Buffer): SortedPage {
  const { found, member } = scanPage(bytes, { member: 'results', keyField: 'id', others: ['created'] });
  const [, created] = found.index.values;
  const total = member('totalHits');
  return {
    rows: allDigits(found.index, found.records).map((key, row) => ({
      key,
      sentCreated: scalarAt(found.json, created?.[row] ?? 0),
      found,
      row,
    })),
    degraded: member('degraded') === true,
    total: typeof total === 'number' ? total : null,
  };
}

/** Rows of one page as they were sent, in this order. */
export function batchOfRows(rows: readonly Pick<SortedRow, 'found' | 'row'>[]): RecordBatch {
  const [first] = rows;
  if (first === undefined) return emptyBatch;
  const { found } = first;
  return foundBatch(found, {
    keyOf: (record) => digitsAt(found.index, record),
    order: Uint32Array.from(rows, ({ row }) => row),
  });
}
