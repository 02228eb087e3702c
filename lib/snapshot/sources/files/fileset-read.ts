import * as z from 'zod/mini';
import { createSeenTexts, type SeenTexts } from '../../../base/index.ts';
import { PlatformError } from '../../../platform/index.ts';
import { searchFiles } from '../../../platform/operations/search-files.ts';
import type { RecordBatch } from '../../page/record-batch.ts';
import { type ScanOutcome, type ScanStart, type ScanStep, totalsSchema } from '../../scan.ts';
import { type CreationRank, isAscending, rankOf, ranksOf, sortsByCreation } from './creation-order.ts';
import { EMPTY_DIGEST, withTexts } from './list-digest.ts';
import type { ReadFilePage, ScannedFilePage } from './pages.ts';
import { hasSeen, noCursors, type SeenCursors, seenCursorsSchema, withCursor } from './seen-cursors.ts';

/** How far one read of a FileSet has progressed; plain JSON. Its files are not in it, but in the parts of the run. */
export type FilesetPosition = {
  /** The cursor to continue from; null means the beginning. */
  readonly next: string | null;
  /** Cursors followed. */
  readonly cursors: SeenCursors;
  /** How many pages with a new cursor have been empty since the last file. */
  readonly empty: number;
  readonly totals: ScanOutcome['totals'];
  /** How many files came again; they are not taken. */
  readonly repeats: number;
  /** The digest of the keys and paths of the files taken. */
  readonly digest: string;
  /** True if the files came in the order of their creation. */
  readonly isAscending: boolean;
  /** The last one; null if there is none yet, or if they came in another order. */
  readonly last: CreationRank | null;
};

export const filesetPosition: z.ZodMiniType<FilesetPosition> = z.object({
  next: z.nullable(z.string()),
  cursors: seenCursorsSchema,
  empty: z.number(),
  totals: totalsSchema,
  repeats: z.number(),
  digest: z.string(),
  isAscending: z.boolean(),
  last: z.nullable(z.object({ createdMs: z.number(), key: z.string() })),
});

/** What one read of a FileSet found. */
export type FilesetResult = Pick<FilesetPosition, 'totals' | 'repeats' | 'digest' | 'isAscending'> & {
  /** How many files there are. */
  readonly files: number;
  /** How many responses it took. */
  readonly pages: number;
  /** True if the platform sorts by creation; false if the files came in another order, or in a single response. */
  readonly isSorted: boolean;
  /** True if the list looped instead of ending. */
  readonly looped: boolean;
  /** The files of the last page, which no step has yielded. */
  readonly batch: RecordBatch;
};

export type FilesetReadOptions = {
  readonly filesetId: string;
  readonly readPage: ReadFilePage;
};

/** More pages than any real list has: a list that reaches this is an error. */
const MAX_PAGES = 100_000;

/** More empty pages in a row than any real list has. */
const MAX_EMPTY_PAGES = 1_000;

/**
 * Reads the files of one FileSet once, by cursor, and takes each file once. The list ends at a cursor that is null,
 * absent or was followed before; an empty page with a new cursor does not end it. If `stopsAtRepeat`, the read also
 * ends at the first file that came before. Throws `PlatformError`, of kind `endless` for a list that does not end.
 */
export async function* readFileset(
  { filesetId, readPage }: FilesetReadOptions,
  { from, signal, takenKeys }: ScanStart<FilesetPosition>,
  stopsAtRepeat: boolean,
): AsyncGenerator<ScanStep<FilesetPosition>, FilesetResult, undefined> {
  const seen = createSeenTexts();
  if (from !== undefined) await addTaken(seen, filesetId, takenKeys());
  let position = from ?? START;
  for (;;) {
    signal?.throwIfAborted();
    refuseEndless(filesetId, position);
    const page = await readPage({ filesetId, next: position.next, signal });
    const fresh = freshRows(page, seen);
    const after = withPage(position, page, fresh);
    const end = endOf(position, page.next);
    if (end === 'none' && !(stopsAtRepeat && after.repeats > 0)) {
      position = after;
      yield { batch: page.batchOf(fresh), position, total: page.total };
      continue;
    }
    const pages = position.cursors.count + 1;
    const isSorted =
      after.isAscending && pages > 1 && (await sortsByCreation(readPage, { filesetId, signal }));
    const found = { files: seen.size(), pages, isSorted, looped: end === 'loop' };
    return { ...after, ...found, batch: page.batchOf(fresh) };
  }
}

const START: FilesetPosition = {
  next: null,
  cursors: noCursors,
  empty: 0,
  totals: { start: null, end: null },
  repeats: 0,
  digest: EMPTY_DIGEST,
  isAscending: true,
  last: null,
};

/** How the list ends at this cursor, if it does. On its last page the platform repeats the cursor that it was sent. */
function endOf({ next: sent, cursors }: FilesetPosition, next: string | null): 'end' | 'loop' | 'none' {
  if (next === null || next === sent) return 'end';
  return hasSeen(cursors, next) ? 'loop' : 'none';
}

/** The files of a page that did not come before. */
function freshRows({ files, keyOf }: ScannedFilePage, seen: SeenTexts): Uint32Array {
  const rows = new Uint32Array(files);
  let fresh = 0;
  for (let row = 0; row < files; row += 1) {
    if (!seen.add(keyOf(row))) continue;
    rows[fresh] = row;
    fresh += 1;
  }
  return rows.subarray(0, fresh);
}

function withPage(before: FilesetPosition, page: ScannedFilePage, fresh: Uint32Array): FilesetPosition {
  const { files, next, total } = page;
  const isFirst = before.next === null;
  const inOrder = before.isAscending && isAscending(ranksOf(page), before.last);
  const last = files === 0 ? before.last : rankOf(page, files - 1);
  return {
    ...before,
    next,
    cursors: next === null ? before.cursors : withCursor(before.cursors, next),
    empty: files === 0 ? before.empty + 1 : 0,
    totals: { start: isFirst ? total : before.totals.start, end: total },
    repeats: before.repeats + files - fresh.length,
    digest: withTexts(before.digest, keysAndPaths(page, fresh)),
    isAscending: inOrder,
    last: inOrder ? last : null,
  };
}

function* keysAndPaths({ keyOf, pathOf }: ScannedFilePage, rows: Uint32Array): Generator<string> {
  for (const row of rows) yield `${keyOf(row)} ${pathOf(row)}`;
}

/** Adds the files that earlier processes took. The segment may also have files of the FileSets before. */
async function addTaken(
  seen: SeenTexts,
  filesetId: string,
  taken: AsyncIterable<readonly string[]>,
): Promise<void> {
  for await (const keys of taken) {
    for (const key of keys) if (key.startsWith(`${filesetId}/`)) seen.add(key);
  }
}

function refuseEndless(filesetId: string, { cursors, empty }: FilesetPosition): void {
  if (cursors.count < MAX_PAGES && empty < MAX_EMPTY_PAGES) return;
  throw new PlatformError(
    {
      kind: 'endless',
      pages: empty < MAX_EMPTY_PAGES ? cursors.count : empty,
      empty: empty >= MAX_EMPTY_PAGES,
    },
    { operation: searchFiles.name, about: `files of FileSet ${filesetId}`, attempts: 1 },
  );
}
