import type { Call, Id } from '../../../platform/index.ts';
import {
  type CalculationSearch,
  searchCalculations,
} from '../../../platform/operations/search-calculations.ts';
import { foundBatch, heldBytes, release } from '../../page/found-batch.ts';
import { linesInPlace } from '../../page/page-lines.ts';
import { scanPage } from '../../page/page-scanner.ts';
import type { RecordBatch } from '../../page/record-batch.ts';
import { typesSeen } from '../../page/record-fields.ts';
import type { FoundRecords } from '../../page/record-finder.ts';
import { allDigits, rowsBetween } from '../../page/record-index.ts';

/** One page, as received: nothing in it is trusted yet. */
export type OffsetPage = {
  /** The ids of its rows, in order. */
  readonly keys: readonly Id[];
  /** The rows from this one on, ready to be written. Call it only once: they may reuse the page's memory. */
  readonly from: (row: number) => RecordBatch;
  /** The size of the whole page, decoded. */
  readonly sizeBytes: number;
  /** True if the platform says that rows may be missing. */
  readonly degraded: boolean;
  /** The total number of rows as reported by the platform; null if it does not report it. */
  readonly total: number | null;
};

/** Reads the page of `limit` rows from `offset`, in the order of ids. */
export type ReadOffsetPage = (request: {
  readonly ascending: boolean;
  readonly offset: number;
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}) => Promise<OffsetPage>;

/** What narrows a search of calculations; nothing means all. */
export type CalculationSelection = Pick<CalculationSearch, 'name' | 'filters'>;

/**
 * Reads pages of calculations. Their records are the bytes as sent by the platform, and only need an id. They are not
 * parsed: the page is validated as JSON while its records are found, which takes half the time.
 */
export function calculationPageReader(call: Call, selection: CalculationSelection = {}): ReadOffsetPage {
  return ({ ascending, offset, limit, signal }) => {
    const body = { filters: [], ...selection, sort: { field: 'id', ascending }, limit, offset };
    return call.read(searchCalculations, { body }, offsetPageIn, { signal });
  };
}

/** The page in these bytes. Throws as `scanPage` does. */
export function offsetPageIn(bytes: Buffer): OffsetPage {
  const { found, member } = scanPage(bytes, { member: 'results', keyField: 'id' });
  const total = member('totalHits');
  const keys = allDigits(found.index, found.records);
  return {
    keys,
    from: (row) => batchFrom(found, keys, row),
    sizeBytes: bytes.byteLength,
    degraded: member('degraded') === true,
    total: typeof total === 'number' ? total : null,
  };
}

/** The rows from one on. If possible their lines are made in the page's own memory. */
function batchFrom(found: FoundRecords, keys: readonly Id[], row: number): RecordBatch {
  const rest = keys.slice(row);
  const lines = linesInPlace(found, row);
  if (lines === undefined) {
    const order = rowsBetween(row, keys.length);
    return foundBatch(found, { keyOf: (record) => keys[record] ?? '', order });
  }
  return {
    records: rest.length,
    pieces: () => [{ keys: rest, lines }],
    fields: typesSeen(found.fields),
    heldBytes: heldBytes(found),
    release: () => release(found),
  };
}
