import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { createSeenTexts, type SeenTexts } from '../../../base/index.ts';
import { PlatformError } from '../../../platform/index.ts';
import { searchFiles } from '../../../platform/operations/search-files.ts';
import type { RecordBatch } from '../../page/record-batch.ts';
import { type Claim, provedIf, type ScanStart, type ScanStep, totalsSchema } from '../../scan.ts';
import type { Judgement, ReadEnd } from '../rereading.ts';
import {
  isAscending,
  type ReadFilePage,
  rankOf,
  ranksOf,
  type ScannedFilePage,
  sortsByCreation,
} from './pages.ts';

/** How far one read of a FileSet has progressed; plain JSON. Its files are not in it, but in the parts of the run. */
export const filesetPosition = z.object({
  /** The cursor to continue from; null means the beginning. */
  next: z.nullable(z.string()),
  followed: z.number(),
  /** The cursor whose number was the last power of two: a loop of any length reaches one in the end (Brent). */
  anchor: z.nullable(z.string()),
  /** How many pages with a new cursor have been empty since the last file. */
  empty: z.number(),
  totals: totalsSchema,
  /** How many files came again, which are not taken, and whether the last cursor did. */
  repeats: z.number(),
  /** The digest of the keys and paths of the files taken. */
  digest: z.string(),
  isAscending: z.boolean(),
  /** The last one; null if there is none yet, or if they came in another order. */
  last: z.nullable(z.object({ createdMs: z.number(), key: z.string() })),
});

export type FilesetPosition = z.infer<typeof filesetPosition>;

export type FilesetResult = Pick<FilesetPosition, 'totals' | 'repeats' | 'digest' | 'isAscending'> & {
  readonly files: number;
  readonly pages: number;
  /** True if the platform sorts by creation; false if the files came in another order, or in a single response. */
  readonly isSorted: boolean;
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
 * Reads the files of one FileSet, each once, up to a cursor that is null, absent or was followed before; an empty page
 * does not end the list, but with `stopsAtRepeat` a repeated file does. Throws `PlatformError` (`endless`).
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
    // On its last page the platform repeats the cursor that it was sent.
    const isEnd = page.next === null || page.next === position.next || page.next === position.anchor;
    if (!isEnd && !(stopsAtRepeat && after.repeats > 0)) {
      position = after;
      yield { batch: page.batchOf(fresh), position, total: page.total };
      continue;
    }
    const pages = position.followed + 1;
    const isSorted =
      after.isAscending && pages > 1 && (await sortsByCreation(readPage, { filesetId, signal }));
    return { ...after, files: seen.size(), pages, isSorted, batch: page.batchOf(fresh) };
  }
}

const START: FilesetPosition = {
  next: null,
  followed: 0,
  anchor: null,
  empty: 0,
  totals: { start: null, end: null },
  repeats: 0,
  digest: '0'.repeat(32),
  isAscending: true,
  last: null,
};

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
  const isLoop = next !== null && next !== before.next && next === before.anchor;
  const followed = before.followed + 1;
  const inOrder = before.isAscending && isAscending(ranksOf(page), before.last);
  const last = files === 0 ? before.last : rankOf(page, files - 1);
  return {
    next,
    followed,
    anchor: Number.isInteger(Math.log2(followed)) ? next : before.anchor,
    empty: files === 0 ? before.empty + 1 : 0,
    totals: { start: before.next === null ? total : before.totals.start, end: total },
    repeats: before.repeats + files - fresh.length + (isLoop ? 1 : 0),
    digest: withFiles(before.digest, page, fresh),
    isAscending: inOrder,
    last: inOrder ? last : null,
  };
}

/** The digest and more files: 128 bits in hex that are the same for the same files in any order, each added once. */
function withFiles(digest: string, { keyOf, pathOf }: ScannedFilePage, rows: Uint32Array): string {
  let sum = BigInt(`0x${digest}`);
  for (const row of rows) sum ^= BigInt(`0x${hash('sha256', `${keyOf(row)} ${pathOf(row)}`).slice(0, 32)}`);
  return sum.toString(16).padStart(32, '0');
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

function refuseEndless(filesetId: string, { followed, empty }: FilesetPosition): void {
  if (followed < MAX_PAGES && empty < MAX_EMPTY_PAGES) return;
  throw new PlatformError(
    {
      kind: 'endless',
      pages: empty < MAX_EMPTY_PAGES ? followed : empty,
      empty: empty >= MAX_EMPTY_PAGES,
    },
    { operation: searchFiles.name, about: `files of FileSet ${filesetId}`, attempts: 1 },
  );
}

/*
 * What a read proves. A cursor is the sort key of the last row, so the next page begins after that key, whatever was
 * added or deleted in the meantime: a file whose key does not change is returned exactly once. When a file was created
 * and its id do not change, so a list in that order is proved by one read, if it is shown that the platform keeps to the
 * order. In any other one a rename may move a file past the cursor, and only these count:
 * - a single response: it is the list of one moment;
 * - two reads, one after the other, of exactly the same files. A file that both missed moved past the cursor twice, and
 *   back in between, while no other came or went. Where the platform reports more files than there were when the second
 *   read began, one was missed, or went since: that is no proof.
 * A file that came twice, or fewer files than both totals, mean that something moved, or that a response was not
 * current: such a read counts for nothing.
 */

/** What is known of a FileSet, and what remains to be written of it. */
export type FilesetOutcome = Claim & Pick<FilesetResult, 'batch' | 'totals' | 'isAscending'>;

/** Judges a read of a FileSet. What is stored for the next read is the digest of the files. */
export function judgeRead({
  result,
  isLast,
  memo,
}: ReadEnd<FilesetResult, string>): Judgement<FilesetOutcome, string> {
  const { batch, totals, isAscending, digest } = result;
  const claim = claimOf(result, memo);
  if (claim.consistency === 'proved' || isLast)
    return { kind: 'ended', outcome: { ...claim, batch, totals, isAscending } };
  return { kind: 'again', memo: isDoubtful(result) ? null : digest };
}

function claimOf(result: FilesetResult, memo: string | null): Claim {
  const { files, totals, pages, digest } = result;
  if (isDoubtful(result)) return provedIf(false, []);
  if (pages === 1) return provedIf(true, ['current-responses']);
  if (result.isSorted) return provedIf(true, ['current-responses', 'fixed-creation-times', 'kept-order']);
  return provedIf(memo === digest && (totals.start ?? 0) <= files, ['not-missed-twice']);
}

function isDoubtful({ files, repeats, totals: { start, end } }: FilesetResult): boolean {
  return repeats > 0 || (start !== null && end !== null && files < Math.min(start, end));
}
