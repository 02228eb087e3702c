import type { ReadFilePage, ScannedFilePage } from './pages.ts';

/** A file's place in the order of creation: when it was created, in epoch milliseconds, and its key among equal times. */
export type CreationRank = { readonly createdMs: number; readonly key: string };

/** Of each file of a page, one at a time: a page may have millions. */
export function* ranksOf(page: ScannedFilePage): Generator<CreationRank> {
  for (let row = 0; row < page.files; row += 1) yield rankOf(page, row);
}

export const rankOf = ({ keyOf, createdMs }: ScannedFilePage, row: number): CreationRank => ({
  createdMs: createdMs(row),
  key: keyOf(row),
});

/** True if all files say when they were created, and each comes after the one before, the first after `last`. */
export function isAscending(ranks: Iterable<CreationRank>, last: CreationRank | null = null): boolean {
  let before = last ?? FIRST;
  for (const rank of ranks) {
    if (!isAfter(rank, before)) return false;
    before = rank;
  }
  return true;
}

const FIRST: CreationRank = { createdMs: Number.NEGATIVE_INFINITY, key: '' };

const isAfter = (a: CreationRank, b: CreationRank) =>
  a.createdMs > b.createdMs || (a.createdMs === b.createdMs && a.key > b.key);

/** So many files are in the opposite order by chance once in 3.6 million lists. */
const PROBED = 10;

/**
 * True if the platform sorts by creation when asked to. That a list came in this order does not show it: its paths may
 * have the same one. So the newest files are requested first: a platform that ignores the order sends the oldest again.
 */
export async function sortsByCreation(
  readPage: ReadFilePage,
  request: { readonly filesetId: string; readonly signal?: AbortSignal | undefined },
): Promise<boolean> {
  const newest = [...ranksOf(await readPage({ ...request, next: null, newest: PROBED }))];
  return newest.length >= PROBED && isAscending(newest.toReversed());
}
