import { canonicalJson } from '../../../base/index.ts';
import { inGroups } from '../../results/read-listed.ts';
import { type BatchStorage, type ChunkId, stagedKey } from './batch.ts';
import { setCallLimit } from './call-limit.ts';
import { type CheckOptions, checkBatch, type Refusal } from './check-batch.ts';
import type { ChunkCounts } from './chunk-counts.ts';
import {
  type ChunkJob,
  chunkMessage,
  erasedRow,
  findStaged,
  printStaged,
  type StagedChunk,
} from './chunk-objects.ts';
import { type ChunkRow, isEnded, readChunkRow, writeChunkRow, writeHeader } from './chunk-row.ts';
import { type BadRow, type BatchRequest, type Chunk, cutChunks, isBad } from './chunks.ts';
import { finishBatch, type Summary } from './finish-batch.ts';
import { endChunk } from './score-chunk.ts';

export type SplitOptions = BatchStorage &
  CheckOptions & {
    /** Puts the messages of at most 10 jobs on the queue; throws unless all of them are there. */
    readonly send: (messages: readonly ChunkJob[]) => Promise<void>;
    readonly hadEnded?: ((counts: ChunkCounts) => void) | undefined;
  };

/** `summary` is set if every chunk has already ended. */
export type SplitBatch = {
  readonly kind: 'split';
  readonly chunks: number;
  readonly rows: number;
  readonly badRows: number;
  readonly summary: Summary | undefined;
};

/** A chunk of this batch was already split from other rows or for another request. */
export class BatchConflictError extends Error {
  override readonly name = 'BatchConflictError';

  constructor({ batch, chunk }: ChunkId) {
    super(
      `batch ${batch} was already split from other rows, or with other topics, instructions or model (chunk ${chunk} differs): repeat it as it was, with rows added at the end or not, choose another name, which pays for no text again, or forget the old batch`,
    );
  }
}

const MESSAGES_AT_ONCE = 10;

/** Stages each chunk, stores its row, sends its message, and stores the header last. Doing it again changes nothing. */
export async function splitBatch(
  request: BatchRequest,
  options: SplitOptions,
): Promise<SplitBatch | Refusal> {
  const checked = await checkBatch(request, options);
  return checked.kind === 'refused' ? checked : splitChecked(request, options);
}

export async function splitChecked(request: BatchRequest, options: SplitOptions): Promise<SplitBatch> {
  const { batch } = request;
  await checkContinues(request, options);
  if (options.maxCalls !== undefined) await setCallLimit(batch, options.maxCalls, options);
  const header = { chunks: 0, rows: 0, badRows: 0 };
  for await (const group of inGroups(chunksOf(request, options), MESSAGES_AT_ONCE)) {
    options.signal?.throwIfAborted();
    const staged = await Promise.all(group.map((chunk) => stageChunk(chunk, request, options)));
    const messages = staged.filter((message) => message !== undefined);
    if (messages.length > 0) await options.send(messages);
    for (const { rows } of group) {
      header.chunks += 1;
      header.rows += rows.length;
      header.badRows += rows.filter(isBad).length;
    }
  }
  if (!(await writeHeader(batch, { ...header, input: request.input?.() }, options)))
    throw new BatchConflictError({ batch, chunk: header.chunks });
  return { kind: 'split', ...header, summary: await finishBatch(batch, options) };
}

/**
 * How many of the rows are in the batch already: it was split, as far as it came, from the first of them. Undefined for a new
 * batch. Reads only. Throws `BatchConflictError` if rows of it were changed or removed, before anything is sent.
 */
export async function checkContinues(
  request: BatchRequest,
  options: Pick<BatchStorage, 'store' | 'table'>,
): Promise<number | undefined> {
  const { batch } = request;
  if ((await readChunkRow({ batch, chunk: 0 }, options)) === undefined) return undefined;
  let [known, chunk] = [0, 0];
  for await (const { index, rows } of chunksOf(request, options)) {
    const stored = await readChunkRow({ batch, chunk: index }, options);
    if (stored !== undefined) known += rows.length;
    chunk = index + 1;
  }
  if ((await readChunkRow({ batch, chunk }, options)) !== undefined)
    throw new BatchConflictError({ batch, chunk });
  return known;
}

/** The chunks of a request: those that are stored as they are there, the last of them with fewer rows than it would have. */
const chunksOf = (request: BatchRequest, options: Pick<BatchStorage, 'store' | 'table'>) =>
  cutChunks(request.rows(), async ({ index, rows }) => {
    const chunkId = { batch: request.batch, chunk: index };
    const stored = await readChunkRow(chunkId, options);
    const staged = stored?.row.staged;
    if (staged === undefined || staged === printStaged(stagedOf(request, rows)).sha256) return rows.length;
    const size = stored?.row.counts?.rows ?? (await findStaged(chunkId, options.store))?.rows.length ?? 0;
    const first = rows.slice(0, size);
    if (size === 0 || printStaged(stagedOf(request, first)).sha256 !== staged)
      throw new BatchConflictError(chunkId);
    return size;
  });

const stagedOf = ({ host, request }: BatchRequest, rows: Chunk['rows']): StagedChunk => ({
  ...{ version: 1, host, request },
  rows: rows.map((row) => (isBad(row) ? withoutEmpty(row) : row)),
});

/** Stages a chunk and stores its row; returns the message of its job if anything is left to score. */
async function stageChunk(
  { index, rows }: Chunk,
  request: BatchRequest,
  options: SplitOptions,
): Promise<ChunkJob | undefined> {
  const chunkId = { batch: request.batch, chunk: index };
  const badRows = rows.filter(isBad);
  const chunk = stagedOf(request, rows);
  const { sha256 } = printStaged(chunk);
  const open: ChunkRow = { state: 'open', staged: sha256, badRows: badRows.map(tableRow) };
  const stored = await readChunkRow(chunkId, options);
  const isStaged = (stored && isEnded(stored.row)) || (await stage(chunkId, chunk, options));
  if (stored === undefined && !isStaged) throw new BatchConflictError(chunkId);
  const now = stored ?? (await writeChunkRow(chunkId, open, null, options));
  if (now === undefined || now.row.staged !== sha256) throw new BatchConflictError(chunkId);
  if (isEnded(now.row)) return void options.hadEnded?.(now.row.counts);
  if (badRows.length < rows.length) return chunkMessage(chunkId, chunk);
  await endChunk(chunkId, [], options);
  return undefined;
}

/** Stages a chunk unless it is staged already, but for texts that were forgotten since; false if something else is. */
async function stage(chunkId: ChunkId, chunk: StagedChunk, { store }: BatchStorage): Promise<boolean> {
  const { body } = printStaged(chunk);
  const put = await store.put(stagedKey(chunkId), body, { condition: { ifAbsent: true } });
  if (put.kind === 'stored') return true;
  const staged = await findStaged(chunkId, store);
  if (staged === undefined) return false;
  const rows = chunk.rows.map((row, at) => ('erased' in (staged.rows[at] ?? row) ? erasedRow(row) : row));
  return canonicalJson({ ...chunk, rows }) === canonicalJson(staged);
}

const withoutEmpty = ({ isEmpty: _, ...bad }: BadRow) => bad;

/** The most characters of a bad row's id and columns in the table, whose row for a chunk holds up to a hundred of them. */
const MOST_OF_BAD_ROW = 1_000;

/** A bad row as the table holds it, which accepts only well-formed text. */
function tableRow(row: BadRow): ChunkRow['badRows'][number] {
  const { line, fault, ...own } = withoutEmpty(row);
  const text = JSON.stringify(own);
  // JSON escapes each half of a surrogate pair that is alone.
  const isFit = text.length <= MOST_OF_BAD_ROW && !/\\ud[89a-f]/.test(text);
  return { line, fault: fault.toWellFormed(), ...(isFit ? own : {}) };
}
