import { freeMemory } from '../../../bytes/free-memory.ts';
import type { Call } from '../../../platform/call.ts';
import type { Id } from '../../../platform/id.ts';
import {
  type CalculationSearch,
  searchCalculations,
} from '../../../platform/operations/search-calculations.ts';
import { linesOf } from '../../page/page-lines.ts';
import { scanPage } from '../../page/page-scanner.ts';
import type { RecordBatch } from '../../page/record-batch.ts';
import { jsonTypesOf } from '../../page/record-fields.ts';

/** One page, as it came: nothing in it is trusted yet. */
export type OffsetPage = {
  /** The ids of its rows, in its order. */
  readonly keys: readonly Id[];
  /** The rows from this one on, ready to be written; asked for once, since they may take the page's memory over. */
  readonly from: (row: number) => RecordBatch;
  /** Of the whole page, decoded. */
  readonly sizeBytes: number;
  /** True if the platform says that rows may be lacking. */
  readonly degraded: boolean;
  /** Rows in all, as the platform tells; null if it does not. */
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
 * Pages of calculations whose records keep the bytes that the platform sent; only the id is required of them. They are
 * not parsed: the page is proved to be valid JSON while its records are found, which takes half the time.
 */
export function calculationPageReader(call: Call, selection: CalculationSelection = {}): ReadOffsetPage {
  return ({ ascending, offset, limit, signal }) => {
    const body = { filters: [], ...selection, sort: { field: 'id', ascending }, limit, offset };
    return call.read(searchCalculations, { body }, readPage, { signal });
  };
}

function readPage(bytes: Buffer): OffsetPage {
  const page = scanPage(bytes, 'results', 'id');
  const { degraded, totalHits: total } = page.head;
  const fields = Object.fromEntries([...page.fields].map(([name, bits]) => [name, jsonTypesOf(bits)]));
  return {
    keys: page.keys,
    from: (row) => ({
      keys: page.keys.slice(row),
      lines: linesOf(page, bytes, row),
      fields,
      release: () => freeMemory(bytes),
    }),
    sizeBytes: bytes.byteLength,
    degraded: degraded === true,
    total: typeof total === 'number' ? total : null,
  };
}
