import { type Call, type Id, type OnOdd, type ReadAnswer, timeMs } from '../../../platform/index.ts';
import {
  type CalculationSearch,
  calculationRows,
  isNothing,
  searchCalculations,
  totalIn,
} from '../../../platform/operations/index.ts';
import { batchInPlace, foundBatch } from '../../page/found-batch.ts';
import type { RecordBatch } from '../../page/record-batch.ts';
import { oddOf, refuseKeyless, wantedOf } from '../../page/record-finder.ts';
import { allDigits, rowsBetween } from '../../page/record-index.ts';
import { noRecords, scanObject } from '../../page/scan-response.ts';
import { scalarAt } from '../../page/value-at.ts';

export type SortField = 'id' | 'created';

/** One page of calculations, as received: nothing in it is trusted yet. */
export type CalculationPage = {
  readonly keys: readonly Id[];
  /** When a row was created, if the page is sorted by that: see `timeMs`. */
  readonly createdMs: (row: number) => number;
  /** The rows from this one on, ready to be written. Call it only once: they may reuse the page's memory. */
  readonly from: (row: number) => RecordBatch;
  readonly batchOf: (rows: readonly number[]) => RecordBatch;
  /** The size of the whole page, decoded. */
  readonly sizeBytes: number;
  /** True if the platform says that rows may be missing. */
  readonly degraded: boolean;
  readonly total: number | null;
  /** How many rows were received: those without an id are not among the others. */
  readonly received: number;
};

type PageRequest = {
  readonly ascending: boolean;
  readonly offset: number;
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
};

/** Reads the page of `limit` rows from `offset`, in the order that the reader was made for. */
export type ReadPage = (request: PageRequest) => Promise<CalculationPage>;

export type PageReaderOptions = {
  readonly call: Call;
  readonly selection: Pick<CalculationSearch, 'name' | 'filters'>;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** The waits before a degraded page is read again, in milliseconds; after the last one it is taken as it is. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000] as const;

/** Reads pages of calculations, unparsed: they are validated while their records are found, which takes half the time. */
export function calculationPageReader(
  { call, selection, sleep }: PageReaderOptions,
  field: SortField,
): ReadPage {
  return async ({ ascending, offset, limit, signal }) => {
    const body = { filters: [], ...selection, sort: { field, ascending }, limit, offset };
    const readPage: ReadAnswer<CalculationPage> = (bytes, onOdd) => pageIn(bytes, field, { offset, onOdd });
    const read = () => call.read(searchCalculations, { body }, readPage, { signal });
    for (const waitMs of WAITS_MS) {
      const page = await read();
      if (!page.degraded) return page;
      await sleep(waitMs, signal);
    }
    return read();
  };
}

/** Far more than a page is asked for: 5,000. */
const MAX_RECORDS = 100_000;

type PageAsked = {
  /** The row that was asked for first. Default: 0. */
  readonly offset?: number;
  readonly onOdd?: OnOdd | undefined;
};

/** The page in these bytes. Throws `SyntaxError` for what is not JSON, and `Error` for what is not a page. */
export function pageIn(
  bytes: Buffer,
  field: SortField,
  { offset = 0, onOdd }: PageAsked = {},
): CalculationPage {
  const others = field === 'id' ? [] : [field];
  const wanted = wantedOf(calculationRows, { others, label: 'name', most: MAX_RECORDS });
  const { isObject, member, ...scanned } = scanObject(bytes, calculationRows.member, wanted);
  const total = member('totalHits');
  const asked = { list: calculationRows.member, total, before: offset };
  const isPage = scanned.found !== undefined || isNothing(member, asked);
  if (!isObject || !isPage) throw new Error('results: expected an array');
  const found = scanned.found ?? noRecords(wanted);
  refuseKeyless(found, 'calculation');
  onOdd?.(oddOf(found, calculationRows));
  const [, created] = found.index.values;
  const keys = allDigits(found.index, found.records);
  const batchOf = (order: Uint32Array) => foundBatch(found, { keyOf: (row) => keys[row] ?? '', order });
  return {
    keys,
    createdMs: (row) => timeMs(scalarAt(found.json, created?.[row] ?? 0)),
    from: (row) => batchInPlace(found, keys, row) ?? batchOf(rowsBetween(row, keys.length)),
    batchOf: (rows) => batchOf(Uint32Array.from(rows)),
    sizeBytes: bytes.byteLength,
    degraded: member('degraded') === true,
    total: totalIn(total),
    received: keys.length + found.keyless.length,
  };
}
