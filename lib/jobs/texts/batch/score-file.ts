import { backoffMs } from '../../../base/index.ts';
import { canonicalJson } from '../../../base/json/index.ts';
import { PlatformError } from '../../../platform/index.ts';
import { inGroups } from '../../results/read-listed.ts';
import {
  type Analyze,
  createFailures,
  createTextGate,
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
     * How many chunks are scored at once. Default 2: the second one runs while the last results of the first arrive.
     */
    readonly chunksAtOnce?: number | undefined;
    /** Reports the progress of a file. `rowsScored` counts only this run, `rows` the whole file. */
    readonly progress?:
      | ((progress: { readonly rowsScored: number; readonly rows: number }) => void)
      | undefined;
  };

/**
 * Scores a batch in this process: a chunk is scored at the moment when its message would be sent. Scoring the
 * same batch again resumes where it stopped. If different texts fail in the same way, that failure is thrown
 * once the chunks in progress have ended.
 */
export async function scoreFile(
  request: BatchRequest,
  options: ScoreFileOptions,
): Promise<{ readonly kind: 'scored'; readonly summary: Summary } | Refusal> {
  const checked = await checkBatch(request, options);
  if (checked.kind === 'refused') return checked;
  const {
    gate = createTextGate(maxWaitingAt(options.rate)),
    failures = createFailures(),
    chunksAtOnce = 2,
    progress,
  } = options;
  let rowsScored = 0;
  const report = (rows: number) => {
    rowsScored += rows;
    progress?.({ rowsScored, rows: checked.rows });
  };
  const score = async (job: ChunkJob) => {
    // Texts are counted as they are scored, since a chunk of a slow platform takes minutes. Equal texts are
    // counted when the chunk has ended.
    let inChunk = 0;
    const analyze: Analyze = async (...given) => {
      const sentiment = await options.analyze(...given);
      if (inChunk + 1 < job.texts.length) {
        inChunk += 1;
        report(1);
      }
      return sentiment;
    };
    await scoreInTime(job, { ...options, gate, failures, analyze });
    report(job.texts.length - inChunk);
  };
  const { summary, chunks } = await splitChecked(request, {
    ...options,
    send: (jobs) => eachOf(jobs, score, chunksAtOnce),
    hadEnded: ({ scored }) => {
      if (scored > 0) failures.hasScored();
    },
  });
  if (summary !== undefined) return { kind: 'scored', summary };
  throw new Error(
    `batch ${request.batch}: expected all ${chunks} chunks to have ended, but some are still open`,
  );
}

/** How often a chunk is tried if its last texts fail for reasons of their own, and the pauses between tries. */
const MAX_TRIES = 3;
const PAUSE = { baseDelayMs: 4_000, maxDelayMs: 60_000 };

/** Scores a chunk, no matter how long it waits for its turn or for other workers: there is no queue to return it to. */
async function scoreInTime(job: ChunkJob, options: ScoreFileOptions): Promise<void> {
  let hasSucceeded = false;
  for (let tries = 1; ; ) {
    const scored = await scoreChunk(job, options);
    if (scored.kind === 'scored') return;
    if (scored.kind === 'later') {
      await options.sleep(scored.delayMs, options.signal);
      continue;
    }
    const { error, alike, progress } = scored;
    hasSucceeded ||= progress > 0;
    if (alike || !(error instanceof PlatformError)) throw error;
    if (tries === MAX_TRIES) {
      // The error is not thrown if other texts succeeded meanwhile and these were sent each time: then the
      // texts themselves are to blame.
      if (!hasSucceeded || !error.sent) throw error;
      return void (await failChunk(job, { error: error.message, payer: job.id }, options));
    }
    await options.sleep(backoffMs(tries, options.random(), PAUSE), options.signal);
    tries += 1;
  }
}

/**
 * Runs `act` on all items, `atOnce` at a time. After a failure no further one starts; the failure is thrown
 * once the others have ended.
 */
async function eachOf<T>(items: readonly T[], act: (item: T) => Promise<void>, atOnce: number) {
  const rest = [...items];
  const work = async () => {
    try {
      for (let item = rest.shift(); item !== undefined; item = rest.shift()) await act(item);
    } catch (error) {
      rest.length = 0;
      throw error;
    }
  };
  const workers = Array.from({ length: atOnce }, work);
  await Promise.allSettled(workers);
  await Promise.all(workers);
}

type SplitOptions = BatchStorage &
  Parameters<typeof checkBatch>[1] & {
    /** Puts the messages of at most 10 jobs on the queue. Throws unless all of them are on it. */
    readonly send: (messages: readonly ChunkJob[]) => Promise<void>;
    readonly hadEnded?: ((counts: ChunkCounts) => void) | undefined;
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

/** Stages each chunk, stores its row, and sends its message; stores the header last. Repeating it changes nothing. */
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
 * Finds how many of the rows are already in the batch, which was split from the first of them; undefined for
 * a new batch. It only reads. Throws `BatchConflictError`, before anything is sent, if rows of the batch were
 * changed or removed.
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
 * The chunks of a request. Chunks that are stored stay as they are; the last of them may have fewer rows than
 * it would have now.
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
  if (isEnded(now.row)) return void options.hadEnded?.(now.row.counts);
  if (badRows.length < rows.length) return chunkMessage(chunkId, chunk);
  await endChunk(chunkId, [], options);
  return undefined;
}

/**
 * Stages a chunk unless it is already staged; texts that were forgotten since then may differ. Returns false
 * if something else is staged.
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
const MAX_OF_BAD_ROW = 1_000;

/** A bad row in the form of the table, which accepts only well-formed text. */
function tableRow(row: BadRow): ChunkRow['badRows'][number] {
  const { line, fault, ...own } = withoutEmpty(row);
  const text = JSON.stringify(own);
  // JSON escapes each half of a surrogate pair.
  const isFit = text.length <= MAX_OF_BAD_ROW && !/\\ud[89a-f]/.test(text);
  return { line, fault: fault.toWellFormed(), ...(isFit ? own : {}) };
}
