import { inGroups } from '../../results/read-listed.ts';
import type { ScoreJob } from '../../types/score/message.ts';
import { type BatchStorage, type ChunkId, stagedKey } from './batch.ts';
import { setCallLimit } from './call-limit.ts';
import { type CheckOptions, checkBatch, type Refusal } from './check-batch.ts';
import type { ChunkCounts } from './chunk-counts.ts';
import { type ChunkRow, isEnded, readChunkRow, writeChunkRow, writeHeader } from './chunk-row.ts';
import { type BadRow, type BatchRequest, type Chunk, cutChunks, isBad, type SourceRow } from './chunks.ts';
import { endChunk } from './end-chunk.ts';
import { finishBatch, type Summary } from './finish-batch.ts';
import { chunkMessage, printStaged, type StagedChunk } from './staged-chunk.ts';

export type SplitOptions = BatchStorage &
  CheckOptions & {
    /**
     * Puts the messages of at most 10 jobs on the queue; throws unless all of them are there. The ids of a job’s texts
     * are the lines of their rows.
     */
    readonly send: (messages: readonly ScoreJob[]) => Promise<void>;
    /** Is called with each chunk that had ended before. */
    readonly hadEnded?: ((counts: ChunkCounts) => void) | undefined;
  };

export type Split = SplitBatch | Refusal;

export type SplitBatch = {
  readonly kind: 'split';
  readonly chunks: number;
  readonly rows: number;
  readonly badRows: number;
  /** Set if every chunk has already ended. */
  readonly summary: Summary | undefined;
};

/** A chunk of this batch was already split from other rows or for another request. */
export class BatchConflictError extends Error {
  override readonly name = 'BatchConflictError';

  constructor({ batch, chunk }: ChunkId) {
    super(
      `batch ${batch} was already split from other rows or for another request (chunk ${chunk} differs): choose another name, or forget the old batch`,
    );
  }
}

/** How many messages are sent at once: the most that SQS accepts. */
const MESSAGES_AT_ONCE = 10;

/**
 * Splits a batch into jobs: stages each chunk, stores its row, sends its message, and stores the header last. Splitting
 * the same request again, after a crash or at the same time, gives the same chunks, rows and job ids; chunks that have
 * ended are left alone. Ten chunks are held at a time.
 */
export async function splitBatch(request: BatchRequest, options: SplitOptions): Promise<Split> {
  const checked = await checkBatch(request, options);
  return checked.kind === 'refused' ? checked : splitChecked(request, options);
}

/** Splits a batch that has been checked. */
export async function splitChecked(
  request: BatchRequest,
  options: Pick<SplitOptions, keyof BatchStorage | 'send' | 'signal' | 'hadEnded' | 'maxCalls'>,
): Promise<SplitBatch> {
  if (options.maxCalls !== undefined) await setCallLimit(request.batch, options.maxCalls, options);
  const header = { chunks: 0, rows: 0, badRows: 0 };
  for await (const group of inGroups(cutChunks(request.rows()), MESSAGES_AT_ONCE)) {
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
  const input = request.input?.();
  const whole = { ...header, ...(input === undefined ? {} : { input }) };
  if (!(await writeHeader(request.batch, whole, options)))
    throw new BatchConflictError({ batch: request.batch, chunk: header.chunks });
  return { kind: 'split', ...header, summary: await finishBatch(request.batch, options) };
}

/** Stages a chunk and stores its row; returns the message of its job if anything is left to score. */
async function stageChunk(
  { index, rows }: Chunk,
  { batch, request, host }: BatchRequest,
  options: BatchStorage & Pick<SplitOptions, 'hadEnded'>,
): Promise<ScoreJob | undefined> {
  const chunkId = { batch, chunk: index };
  const chunk: StagedChunk = { version: 1, host, request, rows: rows.map(stagedRow) };
  const { body, sha256 } = printStaged(chunk);
  const stored = await readChunkRow(chunkId, options);
  const isStaged = stored?.row.state === 'ended' || (await stage(chunkId, body, options));
  const open: ChunkRow = { state: 'open', staged: sha256, badRows: rows.filter(isBad).map(tableRow) };
  if (stored === undefined && !isStaged) throw new BatchConflictError(chunkId);
  const now = stored ?? (await writeChunkRow(chunkId, open, null, options));
  if (now === undefined || now.row.staged !== sha256) throw new BatchConflictError(chunkId);
  if (isEnded(now.row)) {
    options.hadEnded?.(now.row.counts);
    return undefined;
  }
  const message = chunkMessage(chunkId, chunk);
  if (message.texts.length > 0) return message;
  await endChunk(chunkId, [], options);
  return undefined;
}

/** Stages a chunk unless it is staged already; false if something else is. */
async function stage(chunkId: ChunkId, body: Buffer, { store }: BatchStorage): Promise<boolean> {
  const key = stagedKey(chunkId);
  const put = await store.put(key, body, { condition: { ifAbsent: true } });
  return put.kind === 'stored' || (await store.get(key))?.body.equals(body) === true;
}

function stagedRow(row: SourceRow): StagedChunk['rows'][number] {
  if (!isBad(row)) return row;
  const { isEmpty: _, ...bad } = row;
  return bad;
}

/** The most characters of a bad row's id and columns in the table, whose row for a chunk holds up to a hundred of them. */
const MOST_OF_BAD_ROW = 1_000;

/** A bad row as the table holds it, which accepts only well-formed text. */
function tableRow({ line, fault, id, columns }: BadRow): ChunkRow['badRows'][number] {
  const own = { ...(id === undefined ? {} : { id }), ...(columns === undefined ? {} : { columns }) };
  const text = JSON.stringify(own);
  const isFit = text.length <= MOST_OF_BAD_ROW && isWellFormed(own);
  return { line, fault: fault.toWellFormed(), ...(isFit ? own : {}) };
}

const isWellFormed = ({ id = '', columns = {} }: Pick<BadRow, 'id' | 'columns'>) =>
  [id, ...Object.entries(columns).flat()].every((text) => text.isWellFormed());
