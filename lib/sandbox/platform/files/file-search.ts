import { cursorOf, readCursor } from './cursor.ts';
import { type FileSelection, fileFilter, type Matches } from './file-filters.ts';
import { type FieldSort, type FileOrder, fileOrder, type SortKey } from './file-order.ts';
import type { FileRow } from './file-row.ts';
import type { FileSet } from './file-set.ts';

export type FileQuery = FileSelection & {
  readonly fieldSort?: readonly FieldSort[] | undefined;
  readonly limit: number;
  /** The token from the previous page. */
  readonly next?: string | undefined;
};

export type FilePage =
  | {
      readonly kind: 'page';
      readonly rows: readonly FileRow[];
      /** As in practice: on the last page the token that was sent, null if there are no rows. */
      readonly next: string | null;
      /** Rows before the page. */
      readonly offset: number;
      readonly total: number;
    }
  | { readonly kind: 'refused'; readonly message: string };

/** Searches one FileSet, page by page by sort key. The matching rows are cached until the FileSet changes. */
export function createFileSearch(fileSet: FileSet): (query: FileQuery) => FilePage {
  let cached: { readonly key: string; readonly rows: readonly FileRow[] } | undefined;

  const selected = (query: FileQuery, matches: Matches, order: FileOrder) => {
    const { limit: _, next: __, ...selection } = query;
    const key = JSON.stringify([fileSet.version(), selection]);
    if (cached?.key !== key) cached = { key, rows: fileSet.rows().filter(matches).sort(order.compare) };
    return cached.rows;
  };

  return (query) => {
    const filter = fileFilter(query);
    if (filter.kind === 'refused') return filter;
    const ordered = fileOrder(query.fieldSort);
    if (ordered.kind === 'refused') return ordered;
    const { order } = ordered;
    const after = query.next === undefined ? undefined : readCursor(query.next, order);
    if (query.next !== undefined && after === undefined) {
      return { kind: 'refused', message: 'next: expected a token of this search' };
    }
    const hits = selected(query, filter.matches, order);
    const offset = after === undefined ? 0 : positionAfter(hits, after, order);
    const rows = hits.slice(offset, offset + query.limit);
    return {
      kind: 'page',
      rows,
      next: nextOf(rows, hits.length - offset, query.next, order),
      offset,
      total: hits.length,
    };
  };
}

function nextOf(
  rows: readonly FileRow[],
  left: number,
  sent: string | undefined,
  order: FileOrder,
): string | null {
  const last = rows.at(-1);
  if (last === undefined) return null;
  return left > rows.length ? cursorOf(last, order) : (sent ?? null);
}

/** The first position whose row comes after the key, whether or not a row with this key still exists. */
function positionAfter(rows: readonly FileRow[], key: SortKey, order: FileOrder): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (order.compare(rows[middle] ?? {}, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
