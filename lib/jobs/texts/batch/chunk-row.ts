import * as z from 'zod/mini';
import { canonicalJson } from '../../../base/index.ts';
import { type StoredRow, updateRow } from '../../../table/index.ts';
import type { InputFound } from '../rows/read-rows.ts';
import {
  type BatchStorage,
  batchPartition,
  CALLS_SORT,
  type ChunkId,
  HEADER_SORT,
  numbered,
  RETENTION_MS,
} from './batch.ts';
import { type ChunkCounts, countsSchema } from './chunk-counts.ts';
import { badRowSchema } from './chunk-objects.ts';

/*
 * A batch in the table: a row a chunk, and a header, which the splitter stores last.
 *
 *   none -(split)-> open -(its part is stored)-> ended -(redrive: some rows failed)-> open, with the part of before
 *
 * Each write is over the row that was read. Forgetting a text replaces the part of an ended row, and touches an open one,
 * so that a worker which read the text cannot end it. Without its row, a chunk is gone, and nothing ends it.
 */

const chunkRowSchema = z.object({
  state: z.enum(['open', 'ended']),
  /** SHA-256 of the staged object as it was split. */
  staged: z.string(),
  badRows: z.array(badRowSchema),
  /** Left in place, with the counts, if the chunk is reopened: its scored rows are not paid for again. */
  part: z.optional(z.string()),
  counts: z.optional(countsSchema),
});

export type ChunkRow = z.infer<typeof chunkRowSchema>;

export type EndedChunkRow = ChunkRow & { readonly part: string; readonly counts: ChunkCounts };

export const isEnded = (row: ChunkRow): row is EndedChunkRow => row.state === 'ended' && hasPart(row);

/** Whether the chunk has ended, now or before it was reopened. */
export const hasPart = (row: ChunkRow): row is ChunkRow & Pick<EndedChunkRow, 'part' | 'counts'> =>
  row.part !== undefined && row.counts !== undefined;

export type StoredChunk = { readonly row: ChunkRow; readonly token: string };

const chunkRowKey = ({ batch, chunk }: ChunkId) => ({
  partition: batchPartition(batch),
  sort: `chunk-${numbered(chunk)}`,
});

const parsedChunk = (stored: StoredRow | undefined): StoredChunk | undefined =>
  stored && { row: chunkRowSchema.parse(stored.row), token: stored.token };

export const readChunkRow = async (chunkId: ChunkId, { table }: Pick<BatchStorage, 'table'>) =>
  parsedChunk(await table.get(chunkRowKey(chunkId)));

/** The rows of at most 100 chunks, in their order. */
export const readChunkRows = async (chunks: readonly ChunkId[], { table }: BatchStorage) =>
  (await table.getAll(chunks.map(chunkRowKey))).map(parsedChunk);

/** The rows of all chunks of a batch, in source order; beyond 99,999 chunks in that of their names. */
export async function* chunkRows(
  batch: string,
  { table }: Pick<BatchStorage, 'table'>,
): AsyncGenerator<StoredChunk & { readonly chunkId: ChunkId }> {
  for await (const stored of table.list(batchPartition(batch))) {
    if (stored.key.sort === HEADER_SORT || stored.key.sort === CALLS_SORT) continue;
    const chunkId = { batch, chunk: Number(stored.key.sort.replace('chunk-', '')) };
    yield { chunkId, row: chunkRowSchema.parse(stored.row), token: stored.token };
  }
}

/** Writes a chunk's row over the one with the token `expected`; returns the row then stored, undefined if none is. */
export async function writeChunkRow(
  chunkId: ChunkId,
  row: ChunkRow,
  expected: string | null,
  { table, newToken }: BatchStorage,
): Promise<StoredChunk | undefined> {
  const token = newToken();
  const result = await table.put(chunkRowKey(chunkId), row, { expected, token, lifetimeMs: RETENTION_MS });
  if (result.kind === 'stored') return { row, token };
  return parsedChunk(result.current);
}

/** Opens an ended chunk again whose rows failed. `complete`: none did. `gone`: the batch was erased. */
export async function reopenChunk(
  chunkId: ChunkId,
  { table, newToken }: BatchStorage,
): Promise<'reopened' | 'was-open' | 'complete' | 'gone'> {
  let answer = 'gone' as 'reopened' | 'was-open' | 'complete' | 'gone';
  // After a lost race it is asked again: a text may have been forgotten meanwhile.
  const decide = (stored: StoredRow | undefined): ChunkRow | undefined => {
    const row = parsedChunk(stored)?.row;
    if (row === undefined) answer = 'gone';
    else if (!isEnded(row)) answer = 'was-open';
    else answer = row.counts.failed === 0 ? 'complete' : 'reopened';
    return row !== undefined && answer === 'reopened' ? { ...row, state: 'open' } : undefined;
  };
  await updateRow(table, chunkRowKey(chunkId), decide, { newToken, lifetimeMs: RETENTION_MS });
  return answer;
}

export const inputSchema = z.custom<InputFound>((value) => typeof value === 'object' && value !== null);

const headerSchema = z.object({
  chunks: z.number(),
  rows: z.number(),
  badRows: z.number(),
  /** Passed on to the summary. */
  input: z.optional(inputSchema),
});

/** How many chunks there are, and the rows in them, including bad ones. */
export type BatchHeader = z.infer<typeof headerSchema>;

/** The chunks hold the rows: what their source was found to be stays as the first splitter saw it. */
const sizeOf = ({ chunks, rows, badRows }: BatchHeader) => canonicalJson({ chunks, rows, badRows });

const headerKey = (batch: string) => ({ partition: batchPartition(batch), sort: HEADER_SORT });

export async function readHeader(
  batch: string,
  { table }: Pick<BatchStorage, 'table'>,
): Promise<BatchHeader | undefined> {
  const stored = await table.get(headerKey(batch));
  return stored && headerSchema.parse(stored.row);
}

/**
 * Stores the header, over one of fewer rows; false if there is a different one. Splitting the same batch again gives the same
 * header, and with rows added a larger one.
 */
export async function writeHeader(
  batch: string,
  header: BatchHeader,
  { table, newToken }: BatchStorage,
): Promise<boolean> {
  const lifetimeMs = RETENTION_MS;
  for (let expected: string | null = null; ; ) {
    const put = await table.put(headerKey(batch), header, { expected, token: newToken(), lifetimeMs });
    if (put.kind === 'stored') return true;
    if (put.current === undefined) return false;
    const current = headerSchema.parse(put.current.row);
    if (sizeOf(current) === sizeOf(header)) return true;
    if (current.rows >= header.rows || current.chunks >= header.chunks) return false;
    expected = put.current.token;
  }
}
