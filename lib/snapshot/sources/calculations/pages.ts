import * as z from 'zod/mini';
import {
  type Call,
  type Id,
  type OnOdd,
  PlatformError,
  type ReadAnswer,
  timeMs,
} from '../../../platform/index.ts';
import {
  type CalculationSearch,
  isNothing,
  isSet,
  searchCalculations,
  totalIn,
} from '../../../platform/operations/index.ts';
import { foundBatch } from '../../page/found-batch.ts';
import type { RecordBatch } from '../../page/record-fields.ts';
import { findOddMembers, refuseKeyless, wantedFields } from '../../page/record-finder.ts';
import { allDigits } from '../../page/record-index.ts';
import { emptyRecords, scanObject } from '../../page/scan-response.ts';
import { scalarAt } from '../../page/value-at.ts';
import { type Completeness, type ScanOutcome, totalsSchema, UNVERIFIED } from '../../scan.ts';

/**
 * Thrown if a response is not in the requested order, or if the scan makes no progress. The rows read so far may be
 * incomplete.
 */
export class ScanError extends Error {
  override readonly name = 'ScanError';
}

/** Thrown if the platform lists no rows in the requested order even though it reports that there are records. */
export class EmptyOrderError extends ScanError {}

/**
 * Schema of the progress of one read of all calculations; plain JSON. The rows that were read are in the run's parts.
 */
export const progressSchema = z.object({
  field: z.enum(['id', 'created']),
  /** The highest value that existed when the scan began; null while it is unknown, or if the list was empty then. */
  top: z.nullable(z.union([z.string(), z.number()])),
  /**
   * The number of the round that reads without an order (1 is the first); 0 as long as the platform keeps the order.
   */
  round: z.number(),
  /** Whether the current round has found new rows. */
  isNew: z.boolean(),
  /** The offset to continue from. Rows may have moved below it since the last page. */
  next: z.number(),
  /** The number of rows by which to step back before `next`, because the last page did not prove its seam. */
  stepBack: z.number(),
  /**
   * For an ordered scan: the highest value taken so far (an id, or epoch milliseconds), and all ids taken with that
   * value.
   */
  last: z.nullable(z.object({ value: z.union([z.string(), z.number()]), ids: z.array(z.string()) })),
  pages: z.number(),
  /** The number of pages since the last page with new rows. */
  idle: z.number(),
  /** The number of rows received without an id; some may count twice, since pages overlap. */
  unnamed: z.number(),
  /** The number of pages that stayed degraded; a page that is read twice counts twice. */
  degradedPages: z.number(),
  totals: totalsSchema,
});

/** See `progressSchema`. */
export type Progress = z.infer<typeof progressSchema>;

/** The progress before the first page. */
export const NO_PROGRESS: Progress = {
  field: 'id',
  top: null,
  round: 0,
  isNew: false,
  next: 0,
  stepBack: 0,
  last: null,
  pages: 0,
  idle: 0,
  unnamed: 0,
  degradedPages: 0,
  totals: { start: null, end: null },
};

/** Adds to the progress what a page reports about the whole list. */
export function withReported(position: Progress, page: CalculationPage): Progress {
  const { degraded, total, keys, received } = page;
  const { start, end } = position.totals;
  return {
    ...position,
    unnamed: position.unnamed + received - keys.length,
    degradedPages: position.degradedPages + (degraded ? 1 : 0),
    totals: { start: start ?? total, end: total ?? end },
  };
}

/** Counts a page. `fresh`: the number of its new rows. */
export const countPage = (position: Progress, fresh: number): Progress => ({
  ...position,
  pages: position.pages + 1,
  idle: fresh > 0 ? 0 : position.idle + 1,
});

/** How many pages a read may have: 14 hours at two pages a second. No real list has more. */
const MAX_PAGES = 100_000;

/**
 * How many pages in a row may have no new rows. The number of pages read before is added, since a step back may read
 * them again.
 */
const MAX_IDLE_PAGES = 32;

/**
 * Limits the number of requests. Throws `ScanError` if the scan makes no progress, and `PlatformError` of kind
 * `endless` after `MAX_PAGES`.
 */
export function refuseStall({ pages, idle, next }: Progress): void {
  if (pages >= MAX_PAGES) {
    const context = { operation: searchCalculations.name, about: 'calculations', attempts: 1 };
    throw new PlatformError({ kind: 'endless', pages }, context);
  }
  if (idle <= MAX_IDLE_PAGES + (pages - idle)) return;
  throw new ScanError(`the scan made no progress: ${idle} pages up to row ${next} had no new rows`);
}

/** How a read of all calculations ended. `unnamed`: the number of rows without an id, which are not records. */
export type CalculationRead = ScanOutcome & { readonly unnamed: number };

/** The outcome of a read, with the completeness that the caller claims; unverified if a page stayed degraded. */
export const outcomeOf = (
  { degradedPages, totals, unnamed }: Progress,
  order: string,
  claim: Completeness,
): CalculationRead => ({
  ...(degradedPages > 0 ? UNVERIFIED : claim),
  degradedPages,
  totals,
  order,
  refused: degradedPages > 0 ? ['degraded'] : [],
  unnamed,
});

type SortField = 'id' | 'created';

/** One page of calculations, as received. Its order is not checked yet. */
type CalculationPage = {
  readonly keys: readonly Id[];
  /** When a row was created, in epoch milliseconds (see `timeMs`), if the page is sorted by `created`. */
  readonly createdMs: (row: number) => number;
  /** These rows, ready to be written. */
  readonly batchOf: (rows: readonly number[]) => RecordBatch;
  /** The size of the whole page in bytes, decoded. */
  readonly sizeBytes: number;
  /** Whether the platform reports that the page may lack rows. */
  readonly degraded: boolean;
  readonly total: number | null;
  /** The number of rows received, including rows without an id, which `keys` does not have. */
  readonly received: number;
};

/** Reads a page: `limit` rows from `offset` on, in the reader's order. */
export type ReadPage = (request: {
  readonly ascending: boolean;
  readonly offset: number;
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}) => Promise<CalculationPage>;

/**
 * The waits before a degraded page is read again, in milliseconds. After the last one, the page is accepted.
 */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000] as const;

/**
 * Creates a reader of pages of calculations. Pages are not parsed: finding the records also validates them, in half the
 * time.
 */
export function calculationPageReader(
  {
    call,
    selection,
    sleep,
  }: {
    readonly call: Call;
    readonly selection: Pick<CalculationSearch, 'name' | 'filters'>;
    readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  },
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

/** Maximum records in a page. It is far above the 5,000 that are requested. */
const MAX_RECORDS = 100_000;

/** The page in these bytes. Throws `SyntaxError` if they are not JSON, and `Error` if they are not a page. */
export function pageIn(
  bytes: Buffer,
  field: SortField,
  options: {
    /** The offset of the first row that was requested. Default: 0. */
    readonly offset?: number;
    readonly onOdd?: OnOdd | undefined;
  } = {},
): CalculationPage {
  const { offset = 0, onOdd } = options;
  const others = field === 'id' ? [] : [field];
  const wanted = wantedFields(searchCalculations.records, { others, label: 'name', maxRecords: MAX_RECORDS });
  const { isObject, member, members, ...scanned } = scanObject(
    bytes,
    searchCalculations.records.member,
    wanted,
  );
  const total = member('totalHits');
  const asked = { list: searchCalculations.records.member, total, before: offset };
  const isPage = scanned.found !== undefined || isNothing(members(), asked);
  if (!isObject || !isPage) throw new Error('results: expected an array');
  const found = scanned.found ?? emptyRecords(wanted);
  refuseKeyless(found, 'calculation');
  onOdd?.(findOddMembers(found, searchCalculations.records));
  const [, created] = found.index.values;
  const keys = allDigits(found.index, found.records);
  const keyOf = (row: number) => keys[row] ?? '';
  return {
    keys,
    createdMs: (row) => timeMs(scalarAt(found.json, created?.[row] ?? 0)),
    batchOf: (rows) => foundBatch(found, { keyOf, order: Uint32Array.from(rows) }),
    sizeBytes: bytes.byteLength,
    degraded: isSet(member('degraded')),
    total: totalIn(total),
    received: keys.length + found.keyless.length,
  };
}
