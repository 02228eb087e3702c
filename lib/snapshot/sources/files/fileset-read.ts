import * as z from 'zod/mini';
import { createSeenTexts } from '../../../base/json/index.ts';
import { type Call, type OnOdd, PlatformError, type ReadAnswer, timeMs } from '../../../platform/index.ts';
import {
  type FileSearch,
  hasNoFiles,
  pageContextOf,
  searchFiles,
} from '../../../platform/operations/index.ts';
import { HASH_SPACE, keyHash } from '../../changes/key-hash.ts';
import { foundBatch } from '../../page/found-batch.ts';
import type { RecordBatch } from '../../page/record-fields.ts';
import { type FoundRecords, findOddMembers, refuseKeyless, wantedFields } from '../../page/record-finder.ts';
import { emptyRecords, scanObject } from '../../page/scan-response.ts';
import { scalarAt, stringAt } from '../../page/value-at.ts';
import {
  type Completeness,
  isShort,
  type ScanStart,
  type ScanStep,
  totalsSchema,
  UNVERIFIED,
  verifiedIf,
} from '../../scan.ts';
import { isBadRequest } from '../fan-out.ts';
import type { Judgement, ReadEnd } from '../rereading.ts';

const rankSchema = z.object({ createdMs: z.number(), key: z.string() });

/** Schema of the progress of one read of a FileSet; plain JSON. The files that were read are in the run's parts. */
export const filesetPosition = z.object({
  /** The cursor to continue from; null at the beginning. */
  next: z.nullable(z.string()),
  /** The number of pages read. */
  followed: z.number(),
  /**
   * The cursor after the last page whose number is a power of two. If the cursors form a cycle, such a cursor comes
   * back (Brent's algorithm).
   */
  anchor: z.nullable(z.string()),
  /** How many empty pages, each with a new cursor, came after the last file. */
  empty: z.number(),
  totals: totalsSchema,
  /** The number of files received without an id. */
  unnamed: z.number(),
  /** The number of files that were received again (and not taken), plus 1 if the cursors formed a cycle. */
  repeats: z.number(),
  /**
   * The sum of a hash for each file taken, of its key and path, modulo `HASH_SPACE`. It does not depend on the order of
   * files.
   */
  digest: z.number(),
  isAscending: z.boolean(),
  /**
   * Whether the platform sorts by creation, and which file was the newest after the first page; null until that was
   * tested.
   */
  order: z.nullable(z.object({ isSorted: z.boolean(), newest: z.nullable(rankSchema) })),
  /** The last file; null before the first file, or if the files came in another order. */
  last: z.nullable(rankSchema),
});

/** See `filesetPosition`. */
export type FilesetPosition = z.infer<typeof filesetPosition>;

type FilesetResult = Pick<FilesetPosition, 'totals' | 'unnamed' | 'repeats' | 'digest' | 'isAscending'> & {
  readonly files: number;
  readonly pages: number;
  /**
   * Whether the read shows that the platform sorts by creation: false if the files came in another order, or in a
   * single response.
   */
  readonly isSorted: boolean;
  /** Whether the list was shown to end. It is false if the last page had neither a cursor nor a total. */
  readonly isEndShown: boolean;
  /** The new files of the last page, which no step yielded. */
  readonly batch: RecordBatch;
};

/** How many pages a FileSet may have. No real list has more; beyond that it is an error. */
const MAX_PAGES = 100_000;

/** How many pages in a row may be empty. No real list has more; beyond that it is an error. */
const MAX_EMPTY_PAGES = 1_000;

/**
 * A list without an order may grow to twice the total at the start plus this many files. Beyond that, the read is cut.
 */
const MAX_GROWTH = 10_000;

/**
 * Reads the files of one FileSet, each once, up to the newest file that existed after the first page. The list ends at
 * a cursor that is null, absent or was used before; an empty page does not end it. With `stopsAtRepeat`, a repeated
 * file ends the read too. Throws `PlatformError` (`endless`).
 */
export async function* readFileset(
  {
    filesetId,
    readPage,
  }: {
    readonly filesetId: string;
    readonly readPage: ReadFilePage;
  },
  { from, signal, readBackKeys }: ScanStart<FilesetPosition>,
  stopsAtRepeat: boolean,
): AsyncGenerator<ScanStep<FilesetPosition>, FilesetResult, undefined> {
  const seen = createSeenTexts();
  if (from !== undefined) await addTaken(seen, filesetId, readBackKeys());
  let position = from ?? START;
  for (;;) {
    signal?.throwIfAborted();
    refuseEndless(filesetId, position);
    const page = await readPage({ filesetId, next: position.next, signal });
    const { fresh, ...read } = readRows(page, seen, position);
    const after = withPage(position, page, {
      ...read,
      repeats: position.repeats + page.files - fresh.length,
    });
    // On its last page the platform repeats the cursor that it received.
    const isLastPage = page.next === null || page.next === position.next || page.next === position.anchor;
    const needsOrder = position.order === null && after.last !== null && !(isLastPage && page.showsEnd);
    position = needsOrder ? { ...after, order: await probeOrder(readPage, { filesetId, signal }) } : after;
    const isPastNewest = hasNewest(position, seen.size());
    const isCut = isRunaway(position, seen.size()) || (stopsAtRepeat && position.repeats > 0);
    if (!isLastPage && !isPastNewest && !isCut) {
      yield { batch: page.batchOf(fresh), position, total: page.total };
      continue;
    }
    return {
      ...position,
      files: seen.size(),
      pages: position.followed,
      isSorted: position.isAscending && position.order?.isSorted === true,
      isEndShown: isPastNewest || (isLastPage && page.showsEnd),
      batch: page.batchOf(fresh),
    };
  }
}

/** Whether the files were read in order up to the newest one at the start. Later files are left to the next run. */
function hasNewest({ isAscending, order, last, totals, unnamed }: FilesetPosition, files: number): boolean {
  if (!isAscending || last === null || !order?.isSorted || isAfter(order.newest ?? last, last)) return false;
  // If there are fewer files than reported, a response was not current, so the list is read to its end.
  return !isShort(files + unnamed, totals);
}

const isRunaway = ({ totals: { start } }: FilesetPosition, files: number): boolean =>
  start !== null && files > 2 * start + MAX_GROWTH;

const START: FilesetPosition = {
  next: null,
  followed: 0,
  anchor: null,
  empty: 0,
  totals: { start: null, end: null },
  unnamed: 0,
  repeats: 0,
  digest: 0,
  isAscending: true,
  order: null,
  last: null,
};

type ReadRows = Pick<FilesetPosition, 'digest' | 'isAscending' | 'last'>;

/** The indexes of the new rows of a page. Each row's key is built only once, since a page may have millions of rows. */
function readRows(
  { files, keyOf, pathOf, createdMs }: ScannedFilePage,
  seen: ReturnType<typeof createSeenTexts>,
  before: ReadRows,
) {
  const rows = new Uint32Array(files);
  let { digest, isAscending, last } = before;
  let fresh = 0;
  for (let row = 0; row < files; row += 1) {
    const key = keyOf(row);
    if (isAscending) {
      const rank = { createdMs: createdMs(row), key };
      isAscending = isAfter(rank, last);
      last = isAscending ? rank : null;
    }
    if (!seen.add(key)) continue;
    rows[fresh] = row;
    fresh += 1;
    digest = (digest + keyHash(`${key} ${pathOf(row)}`)) % HASH_SPACE;
  }
  return { fresh: rows.subarray(0, fresh), digest, isAscending, last };
}

function withPage(
  before: FilesetPosition,
  { files, unnamed, next, total }: ScannedFilePage,
  { repeats, ...read }: ReadRows & Pick<FilesetPosition, 'repeats'>,
): FilesetPosition {
  const isLoop = next !== null && next !== before.next && next === before.anchor;
  const followed = before.followed + 1;
  return {
    ...read,
    order: before.order,
    next,
    followed,
    anchor: Number.isInteger(Math.log2(followed)) ? next : before.anchor,
    unnamed: before.unnamed + unnamed,
    empty: files + unnamed === 0 ? before.empty + 1 : 0,
    totals: { start: before.next === null ? total : before.totals.start, end: total },
    repeats: repeats + (isLoop ? 1 : 0),
  };
}

/** Adds the files of this FileSet that earlier processes took. The segment may also contain files of FileSets read before. */
async function addTaken(
  seen: ReturnType<typeof createSeenTexts>,
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
 * What a read proves. A cursor is the sort key of the last row, so the next page begins after that key, even
 * if files were added or deleted in the meantime. So a file whose sort key does not change is returned exactly once.
 * A file's time of creation and id do not change, so one read in that order proves the list, if the platform
 * is shown to keep the order. If files are in another order than by creation, a rename may move a file past the cursor.
 * Then only two things are a proof:
 * - a single response, since it shows the list at one moment;
 * - two reads, one after the other, of exactly the same files. To be missed by both, a file would have to
 *   move past the cursor twice, and back in between, while no other file was added or deleted. If the platform reports
 *   more files than the second read found, a file was missed, or deleted since then, so this is not a proof.
 * A read proves nothing if a file came twice (something moved), if there were fewer files than both totals (a response
 * was not current), or if the last page had neither a cursor nor a total (it may not be the last).
 */

/** What a read of a FileSet proved, and the files of its last page, which are still to be written. */
export type FilesetOutcome = Completeness & Pick<FilesetResult, 'batch' | 'totals' | 'isAscending'>;

/** Judges a read of a FileSet. The memo for the next read is the digest of its files. */
export function judgeRead({
  result,
  isLast,
  memo,
}: ReadEnd<FilesetResult, number>): Judgement<FilesetOutcome, number> {
  const { batch, totals, isAscending, digest } = result;
  const claim = claimOf(result, memo);
  if (claim.consistency === 'proved' || isLast)
    return { kind: 'ended', outcome: { ...claim, batch, totals, isAscending } };
  return { kind: 'again', memo: isDoubtful(result) ? null : digest };
}

function claimOf(result: FilesetResult, memo: number | null): Completeness {
  const { files, totals, pages, digest } = result;
  if (isDoubtful(result)) return UNVERIFIED;
  if (result.isSorted) return verifiedIf(true, ['current-responses', 'fixed-creation-times', 'kept-order']);
  if (pages === 1) return verifiedIf(true, ['current-responses']);
  return verifiedIf(memo === digest && (totals.start ?? 0) <= files, ['not-missed-twice']);
}

function isDoubtful({ files, unnamed, repeats, isEndShown, totals }: FilesetResult): boolean {
  return !isEndShown || repeats > 0 || isShort(files + unnamed, totals);
}

/** One page of a FileSet's files, with a row for each file. */
type ScannedFilePage = {
  readonly files: number;
  /** The number of further rows, which have no id. */
  readonly unnamed: number;
  readonly keyOf: (row: number) => string;
  /** The path of a file; empty if it has none. */
  readonly pathOf: (row: number) => string;
  /** When the file was created, in epoch milliseconds; NaN if that is missing. */
  readonly createdMs: (row: number) => number;
  /** The files in these rows, as the platform sent them, with `_filesetId` added at the start. */
  readonly batchOf: (rows: Uint32Array) => RecordBatch;
  /** The cursor sent with the page; null if the page has no cursor. */
  readonly next: string | null;
  readonly total: number | null;
  /** Whether the page can show the end of the list: false if it has neither a cursor (even null) nor a total. */
  readonly showsEnd: boolean;
};

/**
 * Reads the page after the cursor `next` (null: the first page), oldest files first. With `newest`, it reads
 * that many of the newest files instead.
 */
type ReadFilePage = (request: {
  readonly filesetId: string;
  readonly next: string | null;
  readonly newest?: number;
  readonly signal?: AbortSignal | undefined;
}) => Promise<ScannedFilePage>;

/** Whether a request asks for an order, and for a limit. If the platform refuses a variant, the next one is tried. */
const VARIANTS = [
  { isSorted: true, isLimited: true },
  { isSorted: false, isLimited: true },
  // The platform's maximum limit is not published.
  { isSorted: true, isLimited: false },
  { isSorted: false, isLimited: false },
] as const;

/**
 * Creates a reader of pages of files; pages are not parsed. After the platform has refused the requested order or
 * limit, pages are requested without it.
 */
export function filePageReader(call: Call, search: FileSearch): ReadFilePage {
  const { directoryPath, immediateChildren, limit, ...body } = search;
  let accepted = 0;
  const readAs = async (request: Parameters<ReadFilePage>[0], variant: number): Promise<ScannedFilePage> => {
    const { filesetId, next, newest, signal } = request;
    const { isSorted, isLimited } = VARIANTS[variant] ?? VARIANTS[0];
    const page = { limit: newest ?? (isLimited ? limit : undefined), next: next ?? undefined };
    const order = newest === undefined ? 'ASC' : 'DESC';
    const fieldSort = ['created', 'id'].map((field) => ({ field, order }));
    const input = {
      path: { filesetId },
      query: { directoryPath, immediateChildren, ...page },
      body: isSorted ? { ...body, fieldSort } : body,
    };
    const read: ReadAnswer<ScannedFilePage> = (bytes, onOdd) => filesIn(bytes, { filesetId, next, onOdd });
    try {
      const found = await call.read(searchFiles, input, read, { signal });
      accepted = Math.max(accepted, variant);
      return found;
    } catch (error) {
      if (!isBadRequest(error) || variant + 1 === VARIANTS.length) throw error;
      return readAs({ filesetId, next, signal }, variant + 1);
    }
  };
  return (request) => readAs(request, accepted);
}

const wanted = wantedFields(searchFiles.records, { others: ['created', 'path'], label: 'path' });

/** The page in a response. Throws `SyntaxError` if it is not JSON, and `Error` if it is not a page of files. */
function filesIn(
  bytes: Buffer,
  options: {
    readonly filesetId: string;
    readonly next: string | null;
    readonly onOdd: OnOdd | undefined;
  },
): ScannedFilePage {
  const { filesetId, next, onOdd } = options;
  const { isObject, member, members, ...scanned } = scanObject(bytes, searchFiles.records.member, wanted);
  const pageContext = member('pageContext');
  const context = pageContextOf(pageContext);
  const isPage = scanned.found !== undefined || hasNoFiles(members(), next);
  if (!isObject || !isPage) throw new Error('files: expected an array');
  const found = scanned.found ?? emptyRecords(wanted);
  refuseKeyless(found, 'file');
  onOdd?.(findOddMembers(found, searchFiles.records));
  const showsEnd = context.total !== null || Object(pageContext ?? {}).next !== undefined;
  return { ...rowsOf(found, filesetId), ...context, showsEnd };
}

function rowsOf(found: FoundRecords, filesetId: string) {
  const { json, index, records, keyless } = found;
  const [ids, created, paths] = index.values;
  const first = { name: '_filesetId', text: filesetId };
  const keyOf = (row: number) => `${filesetId}/${stringAt(json, ids?.[row] ?? 0)}`;
  return {
    files: records,
    unnamed: keyless.length,
    keyOf,
    pathOf: (row: number) => String(scalarAt(json, paths?.[row] ?? 0) ?? ''),
    createdMs: (row: number) => timeMs(scalarAt(json, created?.[row] ?? 0)),
    batchOf: (order: Uint32Array) => foundBatch(found, { keyOf, order, first }),
  };
}

/**
 * A file's position in the order of creation: its creation in epoch milliseconds, and its key among files of
 * the same time.
 */
type CreationRank = { readonly createdMs: number; readonly key: string };

/** Whether file `a` was created after file `b`; false if `a` has no time. If `b` is null, true if `a` has a time. */
const isAfter = (a: CreationRank, b: CreationRank | null): boolean =>
  b === null
    ? a.createdMs > Number.NEGATIVE_INFINITY
    : a.createdMs > b.createdMs || (a.createdMs === b.createdMs && a.key > b.key);

/**
 * The number of files to request when testing the order. In a list without an order, 10 files descend by chance once in
 * 3.6 million.
 */
const PROBED_FILES = 10;

/**
 * Tests whether the platform sorts by creation, by requesting the newest files first, and finds the newest one. A
 * platform that ignores the requested order sends other files.
 */
async function probeOrder(
  readPage: ReadFilePage,
  request: { readonly filesetId: string; readonly signal?: AbortSignal | undefined },
): Promise<{ readonly isSorted: boolean; readonly newest: CreationRank | null }> {
  const { files, keyOf, createdMs } = await readPage({ ...request, next: null, newest: PROBED_FILES });
  const ranks = Array.from({ length: files }, (_, row) => ({ createdMs: createdMs(row), key: keyOf(row) }));
  const isSorted = files >= PROBED_FILES && ranks.every((rank, row) => isAfter(rank, ranks[row + 1] ?? null));
  return { isSorted, newest: (isSorted && ranks[0]) || null };
}
