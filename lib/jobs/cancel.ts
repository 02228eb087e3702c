import { CANCELLED, isCancelled } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import { type BatchStorage, chunkJobId } from './texts/batch/batch.ts';
import { chunkRows, isEnded, readHeader } from './texts/batch/finish-batch.ts';
import { failChunk } from './texts/batch/score-chunk.ts';
import { sendsMany } from './types/job-types.ts';

/**
 * The outcome of cancelling a batch. `isSplit`: whether all chunks exist; false while more may be added. `ended`:
 * how many chunks had already ended. `jobs`: the jobs of all other chunks.
 */
type CancelledBatch = {
  readonly batch: string;
  readonly chunks: number;
  readonly ended: number;
  readonly isSplit: boolean;
  readonly jobs: readonly { readonly id: string; readonly answer: Awaited<ReturnType<Ledger['cancel']>> }[];
};

/** Cancels a job that has not been sent. A job that sends many requests stops before its next request. */
export const cancelJob = (
  id: string,
  ledger: Pick<Ledger, 'cancel'>,
): Promise<Awaited<ReturnType<Ledger['cancel']>>> => ledger.cancel(id, { stops: sendsMany });

/**
 * Cancels the chunks of a batch that have not ended. A chunk without a worker ends immediately; a running chunk
 * is ended by its worker.
 */
export async function cancelBatch(
  batch: string,
  options: {
    readonly ledger: Pick<Ledger, 'cancel'>;
    readonly batches: BatchStorage;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<CancelledBatch> {
  const { ledger, batches, signal } = options;
  const jobs: CancelledBatch['jobs'][number][] = [];
  let chunks = 0;
  let ended = 0;
  // The header is stored after the last chunk. If it exists before the rows are read, no chunk is missing from them.
  const isSplit = (await readHeader(batch, batches)) !== undefined;
  for await (const { chunkId, row } of chunkRows(batch, batches)) {
    signal?.throwIfAborted();
    chunks += 1;
    if (isEnded(row)) {
      ended += 1;
      continue;
    }
    const id = chunkJobId(chunkId);
    const answer = await cancelJob(id, ledger);
    jobs.push({ id, answer });
    const error = answer.row.outcome?.error;
    if (answer.kind !== 'stopping' && isCancelled(answer.row))
      await failChunk(chunkId, { error: error?.message ?? CANCELLED, jobId: id }, batches);
  }
  return { batch, chunks, ended, isSplit, jobs };
}
