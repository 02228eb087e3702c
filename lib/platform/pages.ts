import type { Call, CallOptions } from './call.ts';
import {
  type CalculationSearch,
  type CalculationsResponse,
  searchCalculations,
} from './operations/search-calculations.ts';
import { type FileSearch, pageContextOf, searchFiles } from './operations/search-files.ts';
import { PlatformError } from './platform-error.ts';
import { type CalculationRow, type FileRecord, totalIn } from './records.ts';

/** One page of a list: its rows, and what the platform says about the whole list, which is only a hint. */
export type Page<Row> = {
  readonly rows: readonly Row[];
  /** How many rows there are in all, if the platform reports it. */
  readonly total: number | undefined;
  /** True if the platform says that rows may be missing. */
  readonly degraded: boolean;
};

/** Options for a list: those of each of its calls, and how far it may go. */
export type PagesOptions = CallOptions & {
  /** A limit that no genuine list reaches; beyond it, the list is an error. Default 100,000 pages. */
  readonly maxPages?: number;
};

const MAX_PAGES = 100_000;

/**
 * Pages of calculations by offset. Ends at a page that is empty or repeats the one before, and at a short one that says
 * that no more follow. Rows can be missed while others are deleted: a snapshot's scan notices that, this list does not.
 */
export async function* calculationPages(
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

export const pageOf = ({ results, totalHits, degraded }: CalculationsResponse): Page<CalculationRow> => ({
  ...{ rows: results ?? [], total: totalIn(totalHits) ?? undefined, degraded: degraded === true },
});

/**
 * Pages of a FileSet's files by cursor. Ends at an empty page, at a cursor that is null or absent, and at a cursor that
 * was followed before: on its last page the platform repeats the cursor it was given.
 */
export async function* filePages(
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
  // No list would ever reach a limit of NaN: such a limit ends the list at once.
  if (pages < maxPages) return;
  throw new PlatformError({ kind: 'endless', pages }, { operation, about, attempts: 1 });
}
