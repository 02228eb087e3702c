import { type Call, isNothing, type OnOdd, type ReadAnswer, timeMs } from '../../../platform/index.ts';
import {
  type FileSearch,
  fileRows,
  pageContextOf,
  searchFiles,
} from '../../../platform/operations/search-files.ts';
import { foundBatch } from '../../page/found-batch.ts';
import { emptyBatch, type RecordBatch } from '../../page/record-batch.ts';
import { type FoundRecords, oddOf, refuseKeyless, wantedOf } from '../../page/record-finder.ts';
import { scanObject } from '../../page/scan-response.ts';
import { scalarAt, textAt } from '../../page/value-at.ts';
import { isBadRequest } from '../missing-ids.ts';

/** One page of a FileSet's files. A file is a row of it. */
export type ScannedFilePage = {
  readonly files: number;
  /** How many more rows were received, without an id. */
  readonly unnamed: number;
  readonly keyOf: (row: number) => string;
  /** Empty if the file does not have one. */
  readonly pathOf: (row: number) => string;
  /** When the file was created, in epoch milliseconds; NaN if it does not say. */
  readonly createdMs: (row: number) => number;
  /** Some of the files, as they were sent, with `_filesetId` added at the start. */
  readonly batchOf: (rows: Uint32Array) => RecordBatch;
  /** The cursor sent with the page; null if there is none. */
  readonly next: string | null;
  readonly total: number | null;
  /** False if the page says nothing of what follows it: it has neither a cursor, null included, nor a total. */
  readonly showsEnd: boolean;
};

/** Reads the page after the cursor `next` (null: the first), oldest files first; with `newest`, so many of the newest. */
export type ReadFilePage = (request: {
  readonly filesetId: string;
  readonly next: string | null;
  readonly newest?: number;
  readonly signal?: AbortSignal | undefined;
}) => Promise<ScannedFilePage>;

/** Reads pages of files, in whatever order they come once the platform has refused the requested one. The files are not parsed. */
export function filePageReader(call: Call, search: FileSearch): ReadFilePage {
  const { directoryPath, immediateChildren, limit, ...body } = search;
  let isRefused = false;
  const readPage: ReadFilePage = async ({ filesetId, next, newest, signal }) => {
    const query = { directoryPath, immediateChildren, limit: newest ?? limit, next: next ?? undefined };
    const order = newest === undefined ? 'ASC' : 'DESC';
    const fieldSort = ['created', 'id'].map((field) => ({ field, order }));
    const input = { path: { filesetId }, query, body: isRefused ? body : { ...body, fieldSort } };
    const read: ReadAnswer<ScannedFilePage> = (bytes, onOdd) => filesIn(bytes, { filesetId, next, onOdd });
    try {
      return await call.read(searchFiles, input, read, { signal });
    } catch (error) {
      if (isRefused || !isBadRequest(error)) throw error;
      isRefused = true;
      return readPage({ filesetId, next, signal });
    }
  };
  return readPage;
}

const wanted = wantedOf(fileRows, { others: ['created', 'path'], label: 'path' });

/** The page in a response. Throws `SyntaxError` for what is not JSON, and `Error` for what is not a page of files. */
function filesIn(bytes: Buffer, { filesetId, next, onOdd }: FilesAsked): ScannedFilePage {
  const { isObject, found, member } = scanObject(bytes, fileRows.member, wanted);
  const given = member('pageContext');
  const context = pageContextOf(given);
  // After a cursor there may be nothing more, whatever there was before it.
  const asked = { list: fileRows.member, total: next === null ? context.total : null };
  const isPage = found !== undefined || isNothing(member, asked);
  if (!isObject || !isPage) throw new Error('files: expected an array');
  if (found !== undefined) {
    refuseKeyless(found, 'file');
    onOdd?.(oddOf(found, fileRows));
  }
  const showsEnd = context.total !== null || Object(given ?? {}).next !== undefined;
  return { ...rowsOf(found, filesetId), ...context, showsEnd };
}

type FilesAsked = {
  readonly filesetId: string;
  readonly next: string | null;
  readonly onOdd: OnOdd | undefined;
};

function rowsOf(found: FoundRecords | undefined, filesetId: string) {
  const [ids, created, paths] = found?.index.values ?? [];
  const scalarOf = (places: ArrayLike<number> | undefined, row: number) =>
    found === undefined ? undefined : scalarAt(found.json, places?.[row] ?? 0);
  const first = { name: '_filesetId', text: filesetId };
  const keyOf = (row: number) =>
    found === undefined ? '' : `${filesetId}/${textAt(found.json, ids?.[row] ?? 0)}`;
  return {
    files: found?.records ?? 0,
    unnamed: found?.keyless.length ?? 0,
    keyOf,
    pathOf: (row: number) => String(scalarOf(paths, row) ?? ''),
    createdMs: (row: number) => timeMs(scalarOf(created, row)),
    batchOf: (order: Uint32Array): RecordBatch =>
      found === undefined ? emptyBatch : foundBatch(found, { keyOf, order, first }),
  };
}

/** A file's place in the order of creation: when it was created, in epoch milliseconds, and its key among equal times. */
export type CreationRank = { readonly createdMs: number; readonly key: string };

/** True if a file says when it was created and comes after another one; without one, it is the first. */
export const isAfter = (a: CreationRank, b: CreationRank | null): boolean =>
  b === null
    ? a.createdMs > Number.NEGATIVE_INFINITY
    : a.createdMs > b.createdMs || (a.createdMs === b.createdMs && a.key > b.key);

/** So many files are in the opposite order by chance once in 3.6 million lists. */
const PROBED = 10;

/**
 * Whether the platform sorts by creation when asked to, and the newest file that it has: one that ignores the order sends
 * the oldest files as the newest.
 */
export async function probeOrder(
  readPage: ReadFilePage,
  request: { readonly filesetId: string; readonly signal?: AbortSignal | undefined },
): Promise<{ readonly isSorted: boolean; readonly newest: CreationRank | null }> {
  const { files, keyOf, createdMs } = await readPage({ ...request, next: null, newest: PROBED });
  const ranks = Array.from({ length: files }, (_, row) => ({ createdMs: createdMs(row), key: keyOf(row) }));
  const isSorted = files >= PROBED && ranks.every((rank, row) => isAfter(rank, ranks[row + 1] ?? null));
  return { isSorted, newest: (isSorted && ranks[0]) || null };
}
