import * as z from 'zod/mini';
import { canonicalJson, parseOwnJson } from '../../../base/json/index.ts';
import {
  findStored,
  MAX_LIST_BYTES,
  printStored,
  type Store,
  type StoredObject,
  updateObject,
} from '../../../store/index.ts';
import { type StoredRow, updateRow } from '../../../table/index.ts';
import type { RecognizedInput } from '../rows/read-rows.ts';
import {
  type BatchStorage,
  batchPartition,
  CALLS_SORT,
  type ChunkId,
  paddedNumber,
  RETENTION_MS,
  summaryKey,
} from './batch.ts';
import { type ChunkCounts, countsSchema, sumCounts } from './chunk-counts.ts';
import { badRowSchema } from './chunk-objects.ts';

/** Maximum bad rows that a summary lists. The parts have all of them. */
const MAX_BAD_ROWS = 1_000;

/** How many of the last chunks are checked before all chunks are listed. */
const PROBED_CHUNKS = 8;

const inputSchema = z.custom<RecognizedInput>((value) => typeof value === 'object' && value !== null);

const summarySchema = z.object({
  version: z.literal(1),
  batch: z.string(),
  chunks: z.number(),
  ...countsSchema.shape,
  /** The first 1,000 bad rows, in the order of the input. Long ids and columns are only in the parts. */
  badRows: z.array(badRowSchema),
  parts: z.array(z.object({ key: z.string(), rows: z.number() })),
  /** How the input was recognized; absent if that was not reported. */
  input: z.optional(inputSchema),
});

/** `_summary.json`: the outcome of a batch. Every worker writes the same bytes, so it contains no time. */
export type Summary = z.infer<typeof summarySchema>;

/** Reads the summary of a batch; undefined until the batch is done. Throws `StoredObjectError` if it is invalid. */
export const findSummary = async (store: Pick<Store, 'get'>, batch: string): Promise<Summary | undefined> =>
  (await findStored(store, summaryKey(batch), summarySchema, MAX_LIST_BYTES))?.value;

/**
 * Writes the summary if the header exists and all chunks have ended; otherwise returns undefined. After each write the
 * chunks are read again, since a text may have been forgotten in the meantime. A write replaces only the summary that
 * was stored before the chunks were read, so that a delayed writer never replaces a newer summary.
 */
export async function finishBatch(batch: string, options: BatchStorage): Promise<Summary | undefined> {
  const { store } = options;
  const key = summaryKey(batch);
  const header = await endedHeader(batch, options);
  if (header === undefined) return undefined;
  let summary: Summary | undefined;
  const decide = async (stored: StoredObject | undefined) => {
    const ended = await readEnded(batch, options);
    summary = undefined;
    if (ended === undefined || ended.chunks.length !== header.chunks) return undefined;
    summary = summarize(batch, ended, header.input);
    const body = printStored(summary);
    return stored?.body.equals(body) ? undefined : body;
  };
  while (await updateObject(store, key, decide));
  return summary;
}

/** The header of a batch whose last chunks have ended. */
async function endedHeader(batch: string, options: BatchStorage): Promise<BatchHeader | undefined> {
  const header = await readHeader(batch, options);
  if (header === undefined) return undefined;
  // Jobs end roughly in order, so if any chunk is open, most likely one of the last is. This avoids listing all chunks
  // whenever one ends.
  const first = Math.max(0, header.chunks - PROBED_CHUNKS);
  const last = Array.from({ length: header.chunks - first }, (_, index) => ({ batch, chunk: first + index }));
  const probed = await readChunkRows(last, options);
  return probed.every((stored) => stored && isEnded(stored.row)) ? header : undefined;
}

type Ended = Pick<Summary, 'badRows'> & {
  readonly chunks: readonly (Pick<EndedChunkRow, 'part' | 'counts'> & Pick<ChunkId, 'chunk'>)[];
};

/** All chunks in order, with the bad rows to list; undefined if a chunk is still open. */
async function readEnded(batch: string, options: BatchStorage): Promise<Ended | undefined> {
  const chunks: Ended['chunks'][number][] = [];
  let badRows: Summary['badRows'] = [];
  for await (const { chunkId, row } of chunkRows(batch, options)) {
    if (!isEnded(row)) return undefined;
    const { badRows: more, part, counts } = row;
    chunks.push({ chunk: chunkId.chunk, part, counts });
    if (more.length > 0)
      badRows = [...badRows, ...more].sort((a, b) => a.line - b.line).slice(0, MAX_BAD_ROWS);
  }
  return { chunks: chunks.sort((a, b) => a.chunk - b.chunk), badRows };
}

function summarize(batch: string, { chunks, badRows }: Ended, input: Summary['input']): Summary {
  const { sentiments, ...counts } = sumCounts(chunks.map((chunk) => chunk.counts));
  return {
    version: 1,
    batch,
    chunks: chunks.length,
    ...counts,
    // Canonical JSON sorts the names, so that all workers write the same bytes.
    sentiments: parseOwnJson(canonicalJson(sentiments)) as Summary['sentiments'],
    badRows,
    parts: chunks.map(({ part, counts: { rows } }) => ({ key: part, rows })),
    input,
  };
}

/*
 * A batch in the table: a row for each chunk, and a header, which is stored last when the batch is split. The states
 * of a chunk:
 *
 * no row -(split)-> open -(its part is stored)-> ended -(redrive, if rows failed)-> open, with the earlier part
 *
 * Each write replaces only the row that was read. Forgetting a text replaces the part of an ended chunk, and
 * rewrites the row of an open chunk, so that a worker that has read the text cannot end the chunk. A chunk without a
 * row was erased, and never ends.
 */

const chunkRowSchema = z.object({
  state: z.enum(['open', 'ended']),
  /** SHA-256 of the staged object, as it was when the batch was split. */
  staged: z.string(),
  badRows: z.array(badRowSchema),
  /** The key of the part. If the chunk is reopened, key and counts stay, so that scored rows are not paid for again. */
  part: z.optional(z.string()),
  counts: z.optional(countsSchema),
});

/** The row of a chunk in the table. */
export type ChunkRow = z.infer<typeof chunkRowSchema>;

/** The row of a chunk that has ended. */
export type EndedChunkRow = ChunkRow & { readonly part: string; readonly counts: ChunkCounts };

/** Whether the chunk has ended, and was not reopened. */
export const isEnded = (row: ChunkRow): row is EndedChunkRow => row.state === 'ended' && hasPart(row);

/** Whether the chunk has a part, because it has ended, now or before it was reopened. */
export const hasPart = (row: ChunkRow): row is ChunkRow & Pick<EndedChunkRow, 'part' | 'counts'> =>
  row.part !== undefined && row.counts !== undefined;

/** The row of a chunk as it is stored, with the token of its last write. */
export type StoredChunk = { readonly row: ChunkRow; readonly token: string };

const chunkRowKey = ({ batch, chunk }: ChunkId) => ({
  partition: batchPartition(batch),
  sort: `chunk-${paddedNumber(chunk)}`,
});

const parsedChunk = (stored: StoredRow | undefined): StoredChunk | undefined =>
  stored && { row: chunkRowSchema.parse(stored.row), token: stored.token };

/** The row of a chunk; undefined if it has none. */
export const readChunkRow = async (chunkId: ChunkId, { table }: Pick<BatchStorage, 'table'>) =>
  parsedChunk(await table.get(chunkRowKey(chunkId)));

/** The rows of at most 100 chunks, in the order of the chunks. */
export const readChunkRows = async (chunks: readonly ChunkId[], { table }: BatchStorage) =>
  (await table.getAll(chunks.map(chunkRowKey))).map(parsedChunk);

const HEADER_SORT = '_header';

/** The rows of all chunks of a batch, in the order of the input; beyond 99,999 chunks, in the order of their names. */
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

/**
 * Replaces a chunk's row if it has the token `expected`. Returns the row that is stored now; undefined if there is
 * no row.
 */
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

/** Reopens an ended chunk with failed rows. `complete`: no row failed. `gone`: the batch was erased. */
export async function reopenChunk(
  chunkId: ChunkId,
  { table, newToken }: BatchStorage,
): Promise<'reopened' | 'was-open' | 'complete' | 'gone'> {
  let answer = 'gone' as 'reopened' | 'was-open' | 'complete' | 'gone';
  // Runs again if another write comes first: a text may have been forgotten in the meantime.
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

const headerSchema = z.object({
  chunks: z.number(),
  rows: z.number(),
  badRows: z.number(),
  /** Copied to the summary. */
  input: z.optional(inputSchema),
});

/** How many chunks there are, and how many rows they have, including bad ones. */
type BatchHeader = z.infer<typeof headerSchema>;

/** The fields by which headers are compared. `input` is not compared, and stays as it was first stored. */
const sizeOf = ({ chunks, rows, badRows }: BatchHeader) => canonicalJson({ chunks, rows, badRows });

const headerKey = (batch: string) => ({ partition: batchPartition(batch), sort: HEADER_SORT });

/** The header of a batch; undefined until the batch has been split. */
export async function readHeader(
  batch: string,
  { table }: Pick<BatchStorage, 'table'>,
): Promise<BatchHeader | undefined> {
  const stored = await table.get(headerKey(batch));
  return stored && headerSchema.parse(stored.row);
}

/**
 * Stores the header of a batch. It may replace a header with fewer rows, since a batch is split again after rows were
 * added. Returns false if any other header is stored.
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
