import { backoffMs } from '../../../base/index.ts';
import { canonicalJson } from '../../../base/json/index.ts';
import { PlatformError } from '../../../platform/index.ts';
import { inGroups } from '../../results/read-listed.ts';
import {
  type Analyze,
  createFailures,
  createWaitLimit,
  maxWaitingAt,
  type ScoreTextsOptions,
} from '../scoring/scoring-session.ts';
import { BatchConflictError, type BatchStorage, type ChunkId, stagedKey } from './batch.ts';
import { setCallLimit } from './call-limit.ts';
import {
  type BadRow,
  type BatchRequest,
  type Chunk,
  checkBatch,
  cutChunks,
  isBad,
  type Refusal,
} from './check-batch.ts';
import type { ChunkCounts } from './chunk-counts.ts';
import { chunkMessage, erasedRow, findStaged, printStaged, type StagedChunk } from './chunk-objects.ts';
import {
  type ChunkRow,
  finishBatch,
  isEnded,
  readChunkRow,
  type Summary,
  writeChunkRow,
  writeHeader,
} from './finish-batch.ts';
import { endChunk, failChunk, scoreChunk } from './score-chunk.ts';

type ChunkJob = ReturnType<typeof chunkMessage>;

type ScoreFileOptions = Omit<SplitOptions, 'send'> &
  ScoreTextsOptions & {
    /**
     * How many chunks are scored at the same time. Default 2: the second starts while the last results of the first
     * arrive.
     */
    readonly concurrentChunks?: number | undefined;
    /** Reports the progress of a file. `rowsScored` counts the rows that this call scored, `rows` all rows of the file. */
    readonly progress?:
      | ((progress: { readonly rowsScored: number; readonly rows: number }) => void)
      | undefined;
  };

/**
 * Scores a batch in this process: each chunk is scored instead of sending its message. Scoring the same batch again
 * resumes where it stopped. If different texts fail in the same way, that failure is thrown after the chunks in
 * progress have ended.
 */
export async function scoreFile(
  request: BatchRequest,
  options: ScoreFileOptions,
): Promise<{ readonly kind: 'scored'; readonly summary: Summary } | Refusal> {
  const checked = await checkBatch(request, options);
  if (checked.kind === 'refused') return checked;
  const {
    waitLimit = createWaitLimit(maxWaitingAt(options.rate)),
    failures = createFailures(),
    concurrentChunks = 2,
    progress,
  } = options;
  let rowsScored = 0;
  const report = (rows: number) => {
    rowsScored += rows;
    progress?.({ rowsScored, rows: checked.rows });
  };
  const score = async (job: ChunkJob) => {
    // Texts are counted as they are scored, since a chunk may take minutes on a slow platform. Texts without a call,
    // such as repeated ones, are counted when the chunk has ended.
    let inChunk = 0;
    const analyze: Analyze = async (...args) => {
      const sentiment = await options.analyze(...args);
      if (inChunk + 1 < job.texts.length) {
        inChunk += 1;
        report(1);
      }
      return sentiment;
    };
    await scoreToEnd(job, { ...options, waitLimit, failures, analyze });
    report(job.texts.length - inChunk);
  };
  const { summary, chunks } = await splitChecked(request, {
    ...options,
    send: (jobs) => runAll(jobs, score, concurrentChunks),
    onEndedBefore: ({ scored }) => {
      if (scored > 0) failures.recordScored();
    },
  });
  if (summary !== undefined) return { kind: 'scored', summary };
  throw new Error(
    `batch ${request.batch} is not complete: while it was scored, a redrive returned some of its ${chunks} chunks to be scored again. Run the same command again.`,
  );
}

/** How many times a chunk is tried if some of its texts fail, each in its own way. */
const MAX_TRIES = 3;

/** The pauses between these tries. */
const BACKOFF = { baseDelayMs: 4_000, maxDelayMs: 60_000 };

/** Scores a chunk, however long it waits for the pace or for other workers: there is no queue to return it to. */
async function scoreToEnd(job: ChunkJob, options: ScoreFileOptions): Promise<void> {
  let hasSucceeded = false;
  for (let tries = 1; ; ) {
    const scored = await scoreChunk(job, options);
    if (scored.kind === 'scored') return;
    if (scored.kind === 'later') {
      await options.sleep(scored.delayMs, options.signal);
      continue;
    }
    const { error, isSystemic, progress } = scored;
    hasSucceeded ||= progress > 0;
    if (isSystemic || !(error instanceof PlatformError)) throw error;
    if (tries === MAX_TRIES) {
      // If other texts succeeded in the meantime, and these were sent each time, the texts themselves are to blame.
      if (!hasSucceeded || !error.sent) throw error;
      return void (await failChunk(job, { error: error.message, jobId: job.id }, options));
    }
    await options.sleep(backoffMs(tries, options.random(), BACKOFF), options.signal);
    tries += 1;
  }
}

/**
 * Runs `act` on all items, at most `concurrency` at a time. After a failure no further item starts. The failure is
 * thrown after the items in progress have ended.
 */
async function runAll<T>(items: readonly T[], act: (item: T) => Promise<void>, concurrency: number) {
  const rest = [...items];
  const work = async () => {
    try {
      for (let item = rest.shift(); item !== undefined; item = rest.shift()) await act(item);
    } catch (error) {
      rest.length = 0;
      throw error;
    }
  };
  const workers = Array.from({ length: concurrency }, work);
  await Promise.allSettled(workers);
  await Promise.all(workers);
}

type SplitOptions = BatchStorage &
  Parameters<typeof checkBatch>[1] & {
    /** Puts the messages of at most 10 jobs on the queue. Throws if a message was not sent. */
    readonly send: (messages: readonly ChunkJob[]) => Promise<void>;
    /** Called for each chunk that had already ended. */
    readonly onEndedBefore?: ((counts: ChunkCounts) => void) | undefined;
  };

/** The result of splitting. `summary` is set if every chunk had already ended. */
type SplitBatch = {
  readonly kind: 'split';
  readonly chunks: number;
  readonly rows: number;
  readonly badRows: number;
  readonly summary: Summary | undefined;
};

const CONCURRENT_SENDS = 10;

/** Stages each chunk, stores its row, and sends its message. Stores the header last. A repeat changes nothing. */
export async function splitBatch(
  request: BatchRequest,
  options: SplitOptions,
): Promise<SplitBatch | Refusal> {
  const checked = await checkBatch(request, options);
  return checked.kind === 'refused' ? checked : splitChecked(request, options);
}

async function splitChecked(request: BatchRequest, options: SplitOptions): Promise<SplitBatch> {
  const { batch } = request;
  await checkContinues(request, options);
  if (options.maxCalls !== undefined) await setCallLimit(batch, options.maxCalls, options);
  const header = { chunks: 0, rows: 0, badRows: 0 };
  for await (const group of inGroups(chunksOf(request, options), CONCURRENT_SENDS)) {
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
 * Finds how many of the rows are already in the batch; undefined for a new batch. Writes nothing. Throws
 * `BatchConflictError` if rows of the batch were changed or removed: the rows of the batch must come first, and only
 * new rows may follow them.
 */
export async function checkContinues(
  request: BatchRequest,
  options: Pick<BatchStorage, 'store' | 'table'>,
): Promise<number | undefined> {
  const { batch } = request;
  if ((await readChunkRow({ batch, chunk: 0 }, options)) === undefined) return undefined;
  let known = 0;
  let chunk = 0;
  for await (const { index, rows } of chunksOf(request, options)) {
    const stored = await readChunkRow({ batch, chunk: index }, options);
    if (stored !== undefined) known += rows.length;
    chunk = index + 1;
  }
  if ((await readChunkRow({ batch, chunk }, options)) !== undefined)
    throw new BatchConflictError({ batch, chunk });
  return known;
}

/**
 * The chunks of a request. Stored chunks stay unchanged. The last stored chunk may have fewer rows than a new chunk
 * would have, because rows were added since.
 */
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
  version: 1,
  host,
  request,
  rows: rows.map((row) => (isBad(row) ? withoutEmpty(row) : row)),
});

/** Stages a chunk and stores its row. Returns the message of its job, if anything is left to score. */
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
  if (isEnded(now.row)) return void options.onEndedBefore?.(now.row.counts);
  if (badRows.length < rows.length) return chunkMessage(chunkId, chunk);
  await endChunk(chunkId, [], options);
  return undefined;
}

/**
 * Stages a chunk unless it is already staged. Returns false if the staged chunk differs by more than texts that were
 * forgotten since.
 */
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

/**
 * Maximum characters of a bad row's id and columns in the table: the row of a chunk may list up to a hundred bad rows.
 */
const MAX_BAD_ROW_LENGTH = 1_000;

/** A bad row as the table accepts it: without a long or malformed id and columns. */
function tableRow(row: BadRow): ChunkRow['badRows'][number] {
  const { line, fault, ...cells } = withoutEmpty(row);
  const json = JSON.stringify(cells);
  // JSON.stringify escapes lone surrogates, which the table does not accept.
  const isAccepted = json.length <= MAX_BAD_ROW_LENGTH && !/\\ud[89a-f]/.test(json);
  return { line, fault: fault.toWellFormed(), ...(isAccepted ? cells : {}) };
}
