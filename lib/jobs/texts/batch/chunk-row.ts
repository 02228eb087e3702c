import * as z from 'zod/mini';
import { recordOf } from '../../../base/index.ts';
import type { StoredRow } from '../../../table/index.ts';
import { type BatchStorage, batchPartition, type ChunkId, chunkSort, RETENTION_MS } from './batch.ts';

const count = z.number();

const countsSchema = z.object({
  /** All rows of the chunk: scored, failed, bad and erased. */
  rows: count,
  scored: count,
  failed: count,
  /** Those of the failed rows whose job was cancelled; absent if none was. */
  cancelled: z.optional(count),
  bad: count,
  /** Rows whose text has been forgotten since. */
  erased: count,
  /** Rows whose result came from the cache, or from an equal text of the chunk. */
  cached: count,
  calls: count,
  paidAgain: count,
  /** Those of the calls; cached results cost nothing. */
  tokens: z.object({ input: count, output: count, total: count, reasoning: count }),
  /**
   * How often each sentiment occurs, in lower case: [topic, sentiment, rows], the topic null for a text as a whole.
   * A list, since a topic may have any name.
   */
  sentiments: z.array(z.tuple([z.nullable(z.string()), z.string(), count])),
});

/** The outcome of a chunk, in numbers. */
export type ChunkCounts = z.infer<typeof countsSchema>;

const chunkRowSchema = z.object({
  state: z.enum(['open', 'ended']),
  /** SHA-256 of the staged object as it was split. */
  staged: z.string(),
  badRows: z.array(
    z.object({
      line: z.number(),
      fault: z.string(),
      id: z.optional(z.string()),
      columns: z.optional(recordOf(z.string())),
    }),
  ),
  /**
   * Key of the part; set with the counts once the chunk has ended, and left in place if it is reopened: its scored rows
   * are not paid for again, and its costs are counted on.
   */
  part: z.optional(z.string()),
  counts: z.optional(countsSchema),
});

/** A chunk's row in the table: open until its part is stored. */
export type ChunkRow = z.infer<typeof chunkRowSchema>;

export type EndedChunkRow = ChunkRow & { readonly part: string; readonly counts: ChunkCounts };

export const isEnded = (row: ChunkRow): row is EndedChunkRow => row.state === 'ended' && hasPart(row);

/** Whether the chunk has ended, now or before it was reopened. */
export const hasPart = (row: ChunkRow): row is ChunkRow & Pick<EndedChunkRow, 'part' | 'counts'> =>
  row.part !== undefined && row.counts !== undefined;

export type StoredChunk = { readonly row: ChunkRow; readonly token: string };

const chunkRowKey = ({ batch, chunk }: ChunkId) => ({
  partition: batchPartition(batch),
  sort: chunkSort(chunk),
});

export const parseChunkRow = ({ row, token }: StoredRow): StoredChunk => ({
  row: chunkRowSchema.parse(row),
  token,
});

export async function readChunkRow(
  chunkId: ChunkId,
  { table }: BatchStorage,
): Promise<StoredChunk | undefined> {
  const stored = await table.get(chunkRowKey(chunkId));
  return stored && parseChunkRow(stored);
}

/** Writes a chunk's row over the one with the token `expected`; returns the row then stored, undefined if none is. */
export async function writeChunkRow(
  chunkId: ChunkId,
  row: ChunkRow,
  expected: string | null,
  { table, newToken, now }: BatchStorage,
): Promise<StoredChunk | undefined> {
  const token = newToken();
  const expiresAtMs = now() + RETENTION_MS;
  const result = await table.put(chunkRowKey(chunkId), row, { expected, token, expiresAtMs });
  if (result.kind === 'stored') return { row, token };
  return result.current && parseChunkRow(result.current);
}
