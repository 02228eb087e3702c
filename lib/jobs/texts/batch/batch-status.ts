import type { BatchCounts, RowCosts } from '../../../model/rules/index.ts';
import { idOfSegment, type Store } from '../../../store/index.ts';
import { type BatchStorage, SCORES_FOLDER, STAGED_FOLDER, stagedFolder } from './batch.ts';
import { sumCounts } from './chunk-counts.ts';
import { outcomeOf, parsePart } from './chunk-objects.ts';
import { chunkRows, findSummary, hasPart, isEnded, readHeader } from './finish-batch.ts';

type RowCounts = Omit<BatchCounts, keyof RowCosts>;

/** The progress of a batch. Counts of rows include only chunks that have ended; failed rows include cancelled ones. */
export type BatchStatus = Omit<RowCounts, 'rows'> & {
  readonly batch: string;
  /**
   * `open`: some chunks have not ended. `unfinished`: the input is still being split, so `chunks`, `rows` and
   * `rowsLeft` are null.
   */
  readonly status: 'done' | 'open' | 'unfinished';
  readonly chunks: number | null;
  readonly chunksEnded: number;
  readonly rows: number | null;
  readonly rowsLeft: number | null;
};

/** A row that was not scored because of `error`. */
export type FailedRow = { readonly line: number; readonly id?: string | undefined; readonly error: string };

/** The names of all batches in a store, sorted. */
export async function batchNames(store: Pick<Store, 'folders'>): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const parent of [SCORES_FOLDER, STAGED_FOLDER])
    for await (const folder of store.folders(parent)) {
      const name = idOfSegment(folder.slice(parent.length).replace(/\/.*$/, ''));
      if (name !== undefined && name !== '') names.add(name);
    }
  return [...names].toSorted();
}

/**
 * Reads the status from the rows in the table or, once the rows have expired, from the summary. Throws
 * `StoredObjectError` for an invalid summary.
 */
export async function readBatchStatus(
  batch: string,
  storage: Pick<BatchStorage, 'store' | 'table'>,
): Promise<BatchStatus | undefined> {
  const all = await Array.fromAsync(chunkRows(batch, storage), ({ row }) => isEnded(row) && row.counts);
  const ended = all.filter((counts) => counts !== false);
  const header = await readHeader(batch, storage);
  if (header === undefined && all.length === 0) {
    const summary = await findSummary(storage.store, batch);
    if (summary !== undefined) return statusOf(batch, summary, summary.chunks, summary);
    const staged = await storage.store.list(stagedFolder(batch)).next();
    if (staged.done) return undefined;
  }
  // A batch that was already split is being split again with additional rows.
  const isGrowing = header !== undefined && all.length > header.chunks;
  return statusOf(batch, isGrowing ? undefined : header, ended.length, sumCounts(ended));
}

/** Computes the status. `whole`: the size of the batch, if it is known. */
function statusOf(
  batch: string,
  whole: { readonly chunks: number; readonly rows: number } | undefined,
  chunksEnded: number,
  { rows: rowsEnded, scored, failed, cancelled, bad, erased }: RowCounts,
): BatchStatus {
  const counts = { chunksEnded, scored, failed, cancelled, bad, erased };
  if (whole === undefined)
    return { batch, status: 'unfinished', chunks: null, rows: null, rowsLeft: null, ...counts };
  const { chunks, rows } = whole;
  const status = chunksEnded >= chunks ? 'done' : 'open';
  return { batch, status, chunks, rows, rowsLeft: Math.max(0, rows - rowsEnded), ...counts };
}

/** Lists the failed rows of a batch, at most `max`, in the order of its chunks. Bad rows are not included. */
export async function failedRows(
  batch: string,
  storage: Pick<BatchStorage, 'store' | 'table'>,
  max: number,
): Promise<readonly FailedRow[]> {
  const found: FailedRow[] = [];
  for await (const { row } of chunkRows(batch, storage)) {
    if (found.length >= max) break;
    if (!hasPart(row) || row.counts.failed === 0) continue;
    const stored = await storage.store.get(row.part);
    for (const scored of stored ? parsePart(row.part, stored.body) : []) {
      const { line, id, error } = scored;
      if (error !== undefined && outcomeOf(scored) !== 'bad') found.push({ line, ...(id && { id }), error });
    }
  }
  return found.slice(0, max);
}
