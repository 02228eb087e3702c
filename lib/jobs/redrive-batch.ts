import { printJson } from '../base/index.ts';
import { StoredObjectError } from '../store/index.ts';
import { type NotSent, type Redriven, type RedriveParts, sendAll } from './redrive.ts';
import { type ChunkId, chunkJobId } from './texts/batch/batch.ts';
import { type ChunkRow, chunkRows, isEnded, reopenChunk } from './texts/batch/chunk-row.ts';
import { chunkMessage, readStaged } from './texts/batch/staged-chunk.ts';

/** What happened to a batch: `chunks` counts all of its chunks; the ids are those of the jobs that score them. */
export type RedrivenBatch = Redriven & { readonly batch: string; readonly chunks: number };

/**
 * Scores the rows of a batch that failed, and no others: reopens each chunk with such rows and its job, however that
 * ended, and sends its message. Chunks that have not ended yet are left alone, and named. After a crash halfway
 * through, the next redrive does what is missing: a chunk that was reopened is open though it has a part.
 */
export async function redriveBatch(batch: string, parts: RedriveParts): Promise<RedrivenBatch> {
  const { queue, batches, signal } = parts;
  const opened: string[] = [];
  const left: Redriven['left'][number][] = [];
  const notSent: NotSent[] = [];
  let chunks = 0;
  for await (const { chunkId, row } of chunkRows(batch, batches)) {
    signal?.throwIfAborted();
    chunks += 1;
    const id = chunkJobId(chunkId);
    const found = await openChunk(chunkId, row, parts);
    if (found.kind === 'left') left.push({ id, state: found.state });
    if (found.kind !== 'open') continue;
    const unsent = await sendAll(queue, [found.body]);
    if (unsent.size === 0) opened.push(id);
    for (const error of unsent.values()) notSent.push({ id, error });
  }
  return { batch, chunks, opened, left, notSent };
}

type Opened =
  | { readonly kind: 'open'; readonly body: string }
  | { readonly kind: 'complete' }
  | { readonly kind: 'left'; readonly state: string };

async function openChunk(
  chunkId: ChunkId,
  row: ChunkRow,
  { ledger, batches }: Pick<RedriveParts, 'ledger' | 'batches'>,
): Promise<Opened> {
  if (isEnded(row) && row.counts.failed === 0) return { kind: 'complete' };
  if (row.part === undefined) return { kind: 'left', state: 'not ended yet' };
  const body = await readMessage(chunkId, batches);
  // Without its texts, a reopened chunk would stay open forever.
  if (body === undefined) return { kind: 'left', state: 'its texts have expired' };
  const reopened = await reopenChunk(chunkId, batches);
  if (reopened === 'gone' || reopened === 'complete') return { kind: 'complete' };
  // A job that another redrive has just opened, or whose row has expired, only needs its message.
  await ledger.reopen(chunkJobId(chunkId), { anyEnd: true, anyContent: true });
  return { kind: 'open', body };
}

/** The message of the job that scores a chunk, made again: that of a job that is done is not stored. */
async function readMessage(
  chunkId: ChunkId,
  { store }: RedriveParts['batches'],
): Promise<string | undefined> {
  try {
    return printJson(chunkMessage(chunkId, await readStaged(chunkId, store)));
  } catch (error) {
    if (error instanceof StoredObjectError && error.kind === 'missing') return undefined;
    throw error;
  }
}
