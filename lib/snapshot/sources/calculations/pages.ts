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
