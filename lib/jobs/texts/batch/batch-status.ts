import { idOfSegment, type Store } from '../../../store/index.ts';
import { findSummary } from '../../results/summary.ts';
import {
  type BatchStorage,
  batchPartition,
  HEADER_SORT,
  SCORES_FOLDER,
  STAGED_FOLDER,
  stagedFolder,
  summaryKey,
} from './batch.ts';
import { readHeader } from './batch-header.ts';
import { type ChunkRow, hasPart, isEnded, parseChunkRow } from './chunk-row.ts';
import { parsePart } from './part.ts';

/** How far a batch is. Counts of rows are those of chunks that have ended. */
export type BatchStatus = {
  readonly batch: string;
  /**
   * `done`: all chunks have ended. `open`: all are known, and some have not. `unfinished`: the source is still being split,
   * or `score` was stopped; the rest is not known.
   */
  readonly status: 'done' | 'open' | 'unfinished';
  /** Null as long as it is not known. */
  readonly chunks: number | null;
  readonly chunksEnded: number;
  readonly rows: number | null;
  readonly rowsLeft: number | null;
  readonly scored: number;
  /** The cancelled ones included. */
  readonly failed: number;
  readonly cancelled: number;
  readonly bad: number;
  readonly erased: number;
};

/** A row that has no score although it could have one. */
export type FailedRow = { readonly line: number; readonly id?: string | undefined; readonly error: string };

type Storage = Pick<BatchStorage, 'store' | 'table'>;

/** The names of all batches that the store has anything of, in order. */
export async function batchNames(store: Pick<Store, 'folders'>): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const parent of [SCORES_FOLDER, STAGED_FOLDER])
    for await (const folder of store.folders(parent)) {
      // The cache's folder has no batch's name.
      const name = idOfSegment(folder.slice(parent.length).replace(/\/.*$/, ''));
      if (name !== undefined && name !== '') names.add(name);
    }
  return [...names].toSorted();
}

/**
 * How far a batch is, by its rows in the table; once those have expired, by its summary. Undefined if there is nothing of
 * it. Reads all its rows, and holds one. Throws `StoredObjectError` for a summary that is none.
 */
export async function readBatchStatus(batch: string, storage: Storage): Promise<BatchStatus | undefined> {
  const counts = { known: 0, chunksEnded: 0, rows: 0, scored: 0, failed: 0, cancelled: 0, bad: 0, erased: 0 };
  for await (const row of chunkRows(batch, storage)) {
    counts.known += 1;
    if (!isEnded(row)) continue;
    counts.chunksEnded += 1;
    for (const name of ['rows', 'scored', 'failed', 'bad', 'erased'] as const)
      counts[name] += row.counts[name];
    counts.cancelled += row.counts.cancelled ?? 0;
  }
  const { known, rows: rowsEnded, ...ended } = counts;
  const header = await readHeader(batch, storage);
  if (header !== undefined) {
    const status = ended.chunksEnded >= header.chunks ? 'done' : 'open';
    const rowsLeft = Math.max(0, header.rows - rowsEnded);
    return { batch, status, chunks: header.chunks, rows: header.rows, rowsLeft, ...ended };
  }
  const unfinished = {
    batch,
    status: 'unfinished',
    chunks: null,
    rows: null,
    rowsLeft: null,
    ...ended,
  } as const;
  if (known > 0) return unfinished;
  return (
    (await statusOfSummary(batch, storage)) ?? ((await isStaged(batch, storage)) ? unfinished : undefined)
  );
}

async function* chunkRows(batch: string, { table }: Storage): AsyncGenerator<ChunkRow> {
  for await (const stored of table.list(batchPartition(batch)))
    if (stored.key.sort !== HEADER_SORT) yield parseChunkRow(stored).row;
}

async function statusOfSummary(batch: string, { store }: Storage): Promise<BatchStatus | undefined> {
  const found = await findSummary(store, summaryKey(batch));
  if (found === undefined) return undefined;
  const { chunks, cancelled = 0, rows, scored, failed, bad, erased } = found;
  const counts = { rows, scored, failed, bad, erased };
  return { batch, status: 'done', chunks, chunksEnded: chunks, rowsLeft: 0, cancelled, ...counts };
}

async function isStaged(batch: string, { store }: Storage): Promise<boolean> {
  for await (const _ of store.list(stagedFolder(batch))) return true;
  return false;
}

/** The first rows of a batch that failed, in the order of its chunks. */
export async function failedRows(
  batch: string,
  storage: Storage,
  most: number,
): Promise<readonly FailedRow[]> {
  const found: FailedRow[] = [];
  for await (const row of chunkRows(batch, storage)) {
    if (found.length >= most) break;
    if (!hasPart(row) || row.counts.failed === 0) continue;
    const stored = await storage.store.get(row.part);
    if (stored === undefined) continue;
    const bad = new Set(row.badRows.map(({ line }) => line));
    for (const { line, id, error } of parsePart(row.part, stored.body))
      if (error !== undefined && !bad.has(line))
        found.push({ line, ...(id === undefined ? {} : { id }), error });
  }
  return found.slice(0, most);
}
