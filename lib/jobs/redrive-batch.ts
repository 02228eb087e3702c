import { printJson } from '../base/index.ts';
import { leftAsIs, type Redriven, type RedriveParts, type Reopened, sendReopened } from './redrive.ts';
import { type ChunkId, chunkJobId } from './texts/batch/batch.ts';
import { chunkMessage, findStaged } from './texts/batch/chunk-objects.ts';
import { type ChunkRow, chunkRows, isEnded, reopenChunk } from './texts/batch/chunk-row.ts';

/** `chunks` counts all of them. */
export type RedrivenBatch = Redriven & { readonly batch: string; readonly chunks: number };

/**
 * Scores the rows of a batch that failed, and no others: reopens each chunk with such rows and its job, however that
 * ended, and sends its message. Chunks that have not ended yet are left alone, and named. A redrive after a crash does what
 * is missing: a chunk that was reopened is open though it has a part.
 */
export async function redriveBatch(batch: string, parts: RedriveParts): Promise<RedrivenBatch> {
  let chunks = 0;
  async function* reopened() {
    for await (const { chunkId, row } of chunkRows(batch, parts.batches)) {
      parts.signal?.throwIfAborted();
      chunks += 1;
      const found = await openChunk(chunkId, row, parts);
      if (found !== undefined) yield found;
    }
  }
  const redriven = await sendReopened(reopened(), parts);
  return { batch, chunks, ...redriven };
}

/** Undefined: none of its rows failed. */
async function openChunk(
  chunkId: ChunkId,
  row: ChunkRow,
  { ledger, batches }: RedriveParts,
): Promise<Reopened | undefined> {
  if (isEnded(row) && row.counts.failed === 0) return undefined;
  const id = chunkJobId(chunkId);
  if (row.part === undefined) return leftAsIs(id, await ledger.read(id), 'not ended yet');
  const staged = await findStaged(chunkId, batches.store);
  // Without its texts, a reopened chunk would stay open forever.
  if (staged === undefined) return leftAsIs(id, await ledger.read(id), 'its texts have expired');
  const reopened = await reopenChunk(chunkId, batches);
  if (reopened === 'gone' || reopened === 'complete') return undefined;
  // A job that another redrive has just opened, or whose row has expired, only needs its message.
  await ledger.reopen(id, { anyEnd: true });
  // Made again: the message of a job that is done is not stored.
  return { kind: 'open', id, body: printJson(chunkMessage(chunkId, staged)) };
}
