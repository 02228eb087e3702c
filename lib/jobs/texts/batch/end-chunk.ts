import type { TextResult } from '../scoring/score-texts.ts';
import type { BatchStorage, ChunkId } from './batch.ts';
import { partPrefix } from './batch.ts';
import { countChunk } from './chunk-counts.ts';
import { type EndedChunkRow, isEnded, readChunkRow, writeChunkRow } from './chunk-row.ts';
import { finishBatch, type Summary } from './finish-batch.ts';
import { printPart, scoredRow } from './part.ts';
import { readStaged } from './staged-chunk.ts';

/** `gone`: the batch was erased, and nothing was written. `was-ended`: another worker ended the chunk first. */
export type EndedChunk =
  | {
      readonly kind: 'ended' | 'was-ended';
      /** Key of the part. */
      readonly part: string;
      /** Set once the whole batch has ended. */
      readonly summary: Summary | undefined;
    }
  | { readonly kind: 'gone' };

/**
 * Ends a chunk: writes its part, then marks its row, then writes the summary if it was the last one. The first worker
 * to end a chunk ends it for good; ending it again writes what may be missing and changes nothing. The ids of the
 * results are the lines of the rows. Throws `StoredObjectError` if the staged chunk is missing.
 */
export async function endChunk(
  chunkId: ChunkId,
  results: readonly TextResult[],
  options: BatchStorage,
): Promise<EndedChunk> {
  const byLine = new Map(results.map((result) => [result.id, result]));
  return end(chunkId, { results, resultOf: (line) => byLine.get(String(line)) }, options);
}

/** Ends a chunk whose job failed or has an unknown outcome: each of its rows fails with this error. */
export async function failChunk(chunkId: ChunkId, error: string, options: BatchStorage): Promise<EndedChunk> {
  return end(chunkId, { results: [], resultOf: () => ({ error }) }, options);
}

/** How a chunk ended, or that it is gone; undefined while it is open. */
export async function findEnd(chunkId: ChunkId, options: BatchStorage): Promise<EndedChunk | undefined> {
  const stored = await readChunkRow(chunkId, options);
  if (stored === undefined) return { kind: 'gone' };
  return isEnded(stored.row) ? conclude('was-ended', chunkId, stored.row, options) : undefined;
}

type Outcome = {
  readonly results: readonly TextResult[];
  readonly resultOf: (line: number) => Pick<TextResult, 'result' | 'error'> | undefined;
};

async function end(chunkId: ChunkId, outcome: Outcome, options: BatchStorage): Promise<EndedChunk> {
  const { store } = options;
  const stored = await readChunkRow(chunkId, options);
  if (stored === undefined) return { kind: 'gone' };
  if (isEnded(stored.row)) return conclude('was-ended', chunkId, stored.row, options);

  const staged = await readStaged(chunkId, store);
  const rows = staged.rows.map((row) => scoredRow(row, outcome.resultOf(row.line)));
  const part = printPart(chunkId, rows);
  // Parts that earlier attempts to end the chunk left behind: while its row is open, no row names them.
  const leftovers = await Array.fromAsync(store.list(partPrefix(chunkId)), ({ key }) => key);
  await store.put(part.key, part.body);
  const counts = countChunk(staged.rows, rows, outcome.results);
  const ended: EndedChunkRow = { ...stored.row, state: 'ended', part: part.key, counts };
  const now = await writeChunkRow(chunkId, ended, stored.token, options);
  if (now?.row === ended) {
    for (const key of leftovers) if (key !== part.key) await store.delete(key);
    return conclude('ended', chunkId, ended, options);
  }
  // The row is still open but has changed: one of the chunk's texts was forgotten meanwhile.
  if (now !== undefined && !isEnded(now.row)) return end(chunkId, outcome, options);
  if (now?.row.part !== part.key) await store.delete(part.key);
  return now !== undefined && isEnded(now.row)
    ? conclude('was-ended', chunkId, now.row, options)
    : { kind: 'gone' };
}

const conclude = async (
  kind: 'ended' | 'was-ended',
  { batch }: ChunkId,
  { part }: EndedChunkRow,
  options: BatchStorage,
): Promise<EndedChunk> => ({ kind, part, summary: await finishBatch(batch, options) });
