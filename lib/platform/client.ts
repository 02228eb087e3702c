import type { Call, CallOptions } from './call.ts';
import { analyzeSentiment, type SentimentRequest } from './operations/analyze-sentiment.ts';
import { getDataFile } from './operations/get-data-file.ts';
import { listCards } from './operations/list-cards.ts';
import { type FunctionCall, runFunction } from './operations/run-function.ts';
import {
  type CalculationSearch,
  type CalculationsResponse,
  searchCalculations,
} from './operations/search-calculations.ts';
import { type FileSearch, pageContextOf, searchFiles } from './operations/search-files.ts';
import { updateFormula } from './operations/update-formula.ts';
import { PlatformError } from './platform-error.ts';
import { type CalculationRow, type FileRecord, isSet, totalIn } from './records.ts';

type Id = string | number | bigint;

/**
 * The platform's seven operations, as `createPlatform` and `openPlatform` return them. Every method throws
 * `PlatformError`, or passes the caller's abort through.
 */
export type Platform = ReturnType<typeof operations>;

/** Creates the operations, which send with `call`. */
export const operations = (call: Call) => ({
  /** The call that all operations use: any endpoint, with a validated or a raw response. */
  call,
  calculations: {
    /** Returns one page of at most 5,000 rows. */
    search: (search: CalculationSearch, options?: CallOptions) =>
      call(searchCalculations, { body: { ...search } }, options).then(pageOf),
    /** Iterates over all pages, by offset. */
    pages: (search: CalculationSearch, options?: PagesOptions) => calculationPages(call, search, options),
    /**
     * Sets a formula; never sent twice. With `strict`, the platform refuses a formula that it cannot parse, instead of
     * storing it as INVALID.
     */
    updateFormula: (
      calculationId: Id,
      expression: string,
      { strict, ...options }: CallOptions & { readonly strict?: boolean } = {},
    ) => call(updateFormula, { path: { calculationId }, query: { strict }, body: { expression } }, options),
  },
  files: {
    /** Iterates over all pages of a FileSet, by cursor. */
    pages: (filesetId: string, search?: FileSearch, options?: PagesOptions) =>
      filePages(call, filesetId, search, options),
  },
  cards: {
    /**
     * Lists the cards that use a dataset. `drill` adds cards that use it only in a drill path; default: true,
     * as on the platform.
     */
    ofDataset: (datasetId: string, { drill, ...options }: CallOptions & { readonly drill?: boolean } = {}) =>
      call(listCards, { path: { datasetId }, query: { drill } }, options),
  },
  functions: {
    /** Runs a code function; never sent twice. A failed execution is returned like any other: check its `status`. */
    run: ({ packageId, version, functionName, ...body }: FunctionCall, options?: CallOptions) =>
      call(runFunction, { path: { packageId, version, functionName }, body }, options),
  },
  sentiment: {
    /** Scores the sentiment of one text, overall or by topic. Each call costs credits. */
    analyze: ({ text, ...rest }: SentimentRequest, options?: CallOptions) => {
      const kind = (rest.topics ?? []).length > 0 ? { targetedSentiment: true } : { simpleSentiment: true };
      return call(analyzeSentiment, { body: { input: [{ type: 'TEXT', text }], ...rest, ...kind } }, options);
    },
  },
  dataFiles: {
    /** Reads a data file's metadata. `expand`: any of `revisions` and `metadata`. */
    get: (
      dataFileId: Id,
      { expand, ...options }: CallOptions & { readonly expand?: readonly string[] } = {},
    ) => call(getDataFile, { path: { dataFileId }, query: { expand: expand?.join(',') } }, options),
  },
});

/** One page of a list. `total` and `degraded` are as the platform reports them, and may be wrong. */
export type Page<Row> = {
  /** The rows in the platform's order; at most `limit` of the search. */
  readonly rows: readonly Row[];
  /** The number of rows of the whole list; undefined if the platform does not report it. */
  readonly total: number | undefined;
  /** Whether the platform reports that rows may be missing. */
  readonly degraded: boolean;
};

/** Options for a list: the options of each call, and the maximum number of pages. */
export type PagesOptions = CallOptions & {
  /**
   * The maximum number of pages, beyond which the list throws `PlatformError` (`endless`). Default 100,000: more
   * than any real list has.
   */
  readonly maxPages?: number;
};

const MAX_PAGES = 100_000;

/**
 * Iterates over pages of calculations by offset. Ends at an empty page, at a page that repeats the page before it,
 * and at a short page that reports no more rows. It can miss rows if other rows are deleted in the meantime; only
 * the scan of a snapshot detects that.
 */
async function* calculationPages(
  call: Call,
  search: CalculationSearch,
  { maxPages = MAX_PAGES, signal }: PagesOptions = {},
): AsyncGenerator<Page<CalculationRow>, void, undefined> {
  const limit = search.limit ?? 5000;
  let offset = search.offset ?? 0;
  let before: string | undefined;
  for (let pages = 0; ; pages += 1) {
    refuseEndless(pages, maxPages, 'searchCalculations', 'calculations');
    const response = await call(searchCalculations, { body: { ...search, limit, offset } }, { signal });
    const page = pageOf(response);
    const { rows } = page;
    const ids = rows.map((row) => row.id).join();
    if (rows.length === 0 || ids === before) return;
    yield page;
    if (rows.length < limit && response.hasMore === false) return;
    before = ids;
    offset += rows.length;
  }
}

const pageOf = ({ results, totalHits, degraded }: CalculationsResponse): Page<CalculationRow> => ({
  rows: results ?? [],
  total: totalIn(totalHits) ?? undefined,
  degraded: isSet(degraded),
});

/**
 * Iterates over pages of a FileSet's files by cursor. Ends at an empty page, at a cursor that is null or absent,
 * and at a cursor that was already used: on its last page the platform repeats the cursor that it received.
 */
async function* filePages(
  call: Call,
  filesetId: string,
  search: FileSearch = {},
  { maxPages = MAX_PAGES, signal }: PagesOptions = {},
): AsyncGenerator<Page<FileRecord>, void, undefined> {
  const { directoryPath, immediateChildren, limit, ...body } = search;
  const followed = new Set<string>();
  let next: string | null = null;
  for (let pages = 0; ; pages += 1) {
    refuseEndless(pages, maxPages, 'searchFiles', `files of FileSet ${filesetId}`);
    const query = { directoryPath, immediateChildren, limit, next: next ?? undefined };
    const response = await call(searchFiles, { path: { filesetId }, query, body }, { signal });
    const rows = response.files ?? [];
    if (rows.length === 0) return;
    const context = pageContextOf(response.pageContext);
    yield { rows, total: context.total ?? undefined, degraded: false };
    next = context.next;
    if (next === null || followed.has(next)) return;
    followed.add(next);
  }
}

function refuseEndless(pages: number, maxPages: number, operation: string, about: string): void {
  // The comparison is false for NaN, so an invalid limit ends the list immediately.
  if (pages < maxPages) return;
  throw new PlatformError({ kind: 'endless', pages }, { operation, about, attempts: 1 });
}
