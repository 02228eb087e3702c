import * as z from 'zod/mini';
import type { Call } from '../../../platform/call.ts';
import { type FileSearch, searchFiles } from '../../../platform/operations/search-files.ts';
import { PlatformError } from '../../../platform/platform-error.ts';
import { emptyBatch } from '../../page/record-batch.ts';
import { type Scan, type ScanOutcome, type ScanStep, totalsSchema } from '../../scan.ts';
import { type MissingId, missingId, missingIdSchema, refusedForMissing } from '../missing-ids.ts';
import { filePageReader, type ReadFilePage, type ScannedFilePage } from './pages.ts';
import { hasSeen, noCursors, type SeenCursors, seenCursorsSchema, withCursor } from './seen-cursors.ts';

/*
 * Why a cursor works while files change, and how far. The cursor is the sort key of the last row, so the next page
 * begins after that key, whatever was added or deleted in the meantime: a file whose key does not change is returned
 * exactly once. A file whose key changes while its FileSet is read (a rename, if the order is by path; the default
 * order is not documented) can be returned twice, or not at all. Only sorting by something fixed, such as `fieldSort`
 * by id, rules out both. Duplicates are not removed here: that would need every id of the FileSet in memory, and in
 * every position.
 */

export type FilesScanOptions = {
  readonly call: Call;
  /** UUIDs in upper or lower case, read in this order; duplicates are skipped. */
  readonly filesetIds: readonly string[];
  readonly search: FileSearch;
  /** How many files each page requests. Default: the limit of `search`, or else 1000. */
  readonly limit?: number | undefined;
};

/** Where a scan of files resumes. */
export type FilesPosition = {
  /** The index of the FileSet. */
  readonly fileset: number;
  /** The cursor to continue from in it; null means its beginning. */
  readonly next: string | null;
  /** Cursors followed in it. */
  readonly cursors: SeenCursors;
  /** Its totals; null before its first page. */
  readonly open: Totals | null;
  /** The sum of the totals of the FileSets before it. */
  readonly done: Totals;
  /** Records so far. */
  readonly records: number;
  readonly missing: readonly MissingId[];
  /** False once a list has looped instead of ending. */
  readonly ended: boolean;
  /** True once a FileSet has gone missing after part of it was read. */
  readonly cut: boolean;
};

export const filesPosition: z.ZodMiniType<FilesPosition> = z.object({
  fileset: z.number(),
  next: z.nullable(z.string()),
  cursors: seenCursorsSchema,
  open: z.nullable(totalsSchema),
  done: totalsSchema,
  records: z.number(),
  missing: z.array(missingIdSchema),
  ended: z.boolean(),
  cut: z.boolean(),
});

type Totals = ScanOutcome['totals'];

const LIMIT = 1000;

/** More pages than any real list has: a list that reaches this is an error. */
const MAX_PAGES = 100_000;

/**
 * Scans the files of FileSets by cursor. Key: `FILESETID/FILEID`. A list ends at a cursor that is null, absent or
 * was followed before, and at an empty page. A FileSet for which the platform responds 404 or 403 is missing. The run
 * is refused as `incomplete` if all FileSets are missing, or if one went missing when it was half read.
 */
export function filesScan({
  call,
  filesetIds,
  search,
  limit = search.limit ?? LIMIT,
}: FilesScanOptions): Scan<FilesPosition> {
  const ids = [...new Set(filesetIds.map((id) => id.toLowerCase()))];
  const readPage = filePageReader(call, { ...search, limit });
  return async function* ({ from = START, signal }) {
    let position = from;
    for (let id = ids[position.fileset]; id !== undefined; id = ids[position.fileset]) {
      signal?.throwIfAborted();
      // The total number of files is unknown until the last FileSet has been requested.
      const isLast = position.fileset === ids.length - 1;
      const step = await readStep(id, position, { readPage, signal });
      position = step.position;
      yield isLast ? step : { ...step, total: null };
    }
    return outcomeOf(position, ids.length);
  };
}

const START: FilesPosition = {
  fileset: 0,
  next: null,
  cursors: noCursors,
  open: null,
  done: { start: 0, end: 0 },
  records: 0,
  missing: [],
  ended: true,
  cut: false,
};

type Reading = { readonly readPage: ReadFilePage; readonly signal: AbortSignal | undefined };

/** The step for the next page of a FileSet, or for a missing FileSet. */
async function readStep(
  filesetId: string,
  position: FilesPosition,
  { readPage, signal }: Reading,
): Promise<ScanStep<FilesPosition>> {
  refuseEndless(filesetId, position);
  try {
    const page = await readPage({ filesetId, next: position.next, signal });
    const after = afterPage(position, page);
    return { batch: page.batch, position: after, total: sumOf(after).end };
  } catch (error) {
    const missing = missingId(filesetId, error);
    if (missing === undefined) throw error;
    const after = nextFileset({
      ...position,
      missing: [...position.missing, missing],
      cut: position.cut || position.next !== null,
    });
    return { batch: emptyBatch, position: after, total: after.done.end };
  }
}

function afterPage(before: FilesPosition, { batch, next, total }: ScannedFilePage): FilesPosition {
  const open = { start: before.open === null ? total : before.open.start, end: total };
  const position = { ...before, open, records: before.records + batch.keys.length };
  if (batch.keys.length === 0 || next === null) return nextFileset(position);
  // On the last page the platform repeats the cursor that it was sent. An older cursor means a loop.
  if (next === before.next) return nextFileset(position);
  if (hasSeen(before.cursors, next)) return nextFileset({ ...position, ended: false });
  return { ...position, next, cursors: withCursor(before.cursors, next) };
}

const nextFileset = (position: FilesPosition): FilesPosition => ({
  ...position,
  fileset: position.fileset + 1,
  next: null,
  cursors: noCursors,
  open: null,
  done: position.open === null ? position.done : sumOf(position),
});

/** The totals of all FileSets up to this one; null once the platform did not report one of them. */
function sumOf({ done, open }: FilesPosition): Totals {
  const sum = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b);
  return open === null ? done : { start: sum(done.start, open.start), end: sum(done.end, open.end) };
}

function outcomeOf({ done, missing, ended, cut }: FilesPosition, requested: number): ScanOutcome {
  return {
    proved: ended,
    totals: done,
    order: 'cursor',
    missing,
    refused: cut ? ['incomplete'] : refusedForMissing(missing, requested),
  };
}

function refuseEndless(filesetId: string, { cursors }: FilesPosition): void {
  if (cursors.count < MAX_PAGES) return;
  throw new PlatformError(
    { kind: 'endless', pages: cursors.count },
    { operation: searchFiles.name, about: `files of FileSet ${filesetId}`, attempts: 1 },
  );
}
