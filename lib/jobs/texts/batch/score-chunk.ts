import type { RowCosts } from '../../../model/rules/index.ts';
import type { ScoreJob } from '../../types/score/message.ts';
import { createScoreCache, type ScoreCache } from '../cache/score-cache.ts';
import {
  type Scored,
  scoreTexts,
  settleTexts,
  type TextOutcome,
  type TextResult,
} from '../scoring/score-texts.ts';
import type { ScoreTextsOptions } from '../scoring/scoring-session.ts';
import { type BatchStorage, type ChunkId, partPrefix, type ScoreRequest } from './batch.ts';
import { openCallLimit } from './call-limit.ts';
import { addCosts, costOfResult, countRows, withZeroCosts } from './chunk-counts.ts';
import { hasScore, partsOver, printPart, readOpenChunk, scoredRow } from './chunk-objects.ts';
import {
  type EndedChunkRow,
  finishBatch,
  isEnded,
  readChunkRow,
  type StoredChunk,
  type Summary,
  writeChunkRow,
} from './finish-batch.ts';

/**
 * Does a `score` job: scores its texts and, if it belongs to a batch, ends its chunk. A chunk that has ended, or was
 * erased, has no `results` and costs no call. In a reopened chunk, only rows without a result are scored.
 */
export async function scoreChunk(
  job: ScoreJob,
  scoringOptions: Omit<ScoreTextsOptions, 'jobId'> & BatchStorage,
): Promise<
  | Exclude<Scored, { readonly kind: 'scored' }>
  | {
      readonly kind: 'scored';
      readonly results: readonly TextResult[];
      readonly chunk: EndedChunk | undefined;
    }
> {
  const options = { ...scoringOptions, jobId: job.id };
  const { batch, chunk } = job;
  if (batch === undefined || chunk === undefined) {
    const scored = await scoreTexts(job.texts, requestOf(job), options);
    if (scored.kind !== 'scored') return scored;
    await scored.settle();
    return { kind: 'scored', results: scored.results, chunk: undefined };
  }
  const chunkId = { batch, chunk };
  const found = await findChunk(chunkId, options);
  if (found.kind !== 'open') return { kind: 'scored', results: [], chunk: found };
  // The texts of the message are not used, since some of them may have been forgotten after it was sent.
  const { texts } = await readOpenChunk(chunkId, found.row.part, options.store);
  const limit = await openCallLimit(batch, options);
  const scored = await scoreTexts(texts, requestOf(job), { ...options, limit });
  if (scored.kind !== 'scored') return scored;
  const ended = await endChunk(chunkId, scored.results, options);
  if (ended.kind === 'ended') await scored.settle();
  return { kind: 'scored', results: scored.results, chunk: ended };
}

/** The request of a job, without its texts. */
export function requestOf(job: ScoreJob): ScoreRequest {
  const { version, type, id, notBefore, priority, texts, batch, chunk, ...request } = job;
  return request;
}

/**
 * How a chunk ended. `gone`: the batch was erased, and nothing was written. `was-ended`: another worker ended
 * the chunk first.
 */
type EndedChunk =
  | {
      readonly kind: 'ended' | 'was-ended';
      readonly part: string;
      readonly costs: RowCosts;
      readonly summary: Summary | undefined;
    }
  | { readonly kind: 'gone' };

/**
 * Ends a chunk: writes its part, then updates its row, then writes the summary if it was the last open chunk. The
 * first worker that ends the chunk decides its part; a repeat only completes the later steps. The ids of the results
 * are the numbers of the rows' lines.
 */
export async function endChunk(
  chunkId: ChunkId,
  results: readonly TextResult[],
  options: BatchStorage,
): Promise<EndedChunk> {
  const { store } = options;
  const scores = new Map(results.map((result) => [Number(result.id), result]));
  for (;;) {
    const found = await findChunk(chunkId, options);
    if (found.kind !== 'open') return found;
    const { row: open, token } = found;
    const { rows: staged, prior } = await readOpenChunk(chunkId, open.part, store);
    const rows = staged.map((row) => {
      const before = prior.get(row.line);
      const now = scores.get(row.line);
      if (hasScore(before) && 'text' in row) return before;
      return scoredRow(row, now, addCosts(before, now && costOfResult(now)));
    });
    const part = printPart(chunkId, rows, token);
    const counts = countRows(rows);
    await store.put(part.key, part.body);
    const ended: EndedChunkRow = { ...open, state: 'ended', part: part.key, counts };
    const now = await writeChunkRow(chunkId, ended, token, options);
    if (now?.row === ended) return conclude('ended', chunkId, ended, options);
    // Another worker has ended the chunk, or one of its texts was forgotten: read it again.
    if (now?.row.part !== part.key) await store.delete(part.key);
  }
}

/** How a chunk ended or, if it is open, its row. */
async function findChunk(
  chunkId: ChunkId,
  options: BatchStorage,
): Promise<EndedChunk | (StoredChunk & { readonly kind: 'open' })> {
  const stored = await readChunkRow(chunkId, options);
  if (stored === undefined) return { kind: 'gone' };
  if (isEnded(stored.row)) return conclude('was-ended', chunkId, stored.row, options);
  return { kind: 'open', ...stored };
}

async function conclude(
  kind: 'ended' | 'was-ended',
  chunkId: ChunkId,
  { part, counts }: EndedChunkRow,
  options: BatchStorage,
): Promise<EndedChunk> {
  await deleteLeftovers(chunkId, options);
  return { kind, part, costs: withZeroCosts(counts), summary: await finishBatch(chunkId.batch, options) };
}

/**
 * Deletes parts to which no row will ever refer: parts of workers that failed to end the chunk, and the part from
 * before the chunk was reopened. A part that was written to replace the current row stays, since a text may be in the
 * process of being forgotten.
 */
async function deleteLeftovers(chunkId: ChunkId, options: BatchStorage): Promise<void> {
  const { store } = options;
  const keys = await Array.fromAsync(store.list(partPrefix(chunkId)), ({ key }) => key);
  // The row is read after the list: a part to which a later row refers is not in the list.
  const stored = keys.length > 1 ? await readChunkRow(chunkId, options) : undefined;
  if (stored === undefined || !isEnded(stored.row)) return;
  for (const key of keys)
    if (key !== stored.row.part && !key.startsWith(partsOver(chunkId, stored.token))) await store.delete(key);
}

/** Ends a chunk whose job failed or is unknown: scored texts keep their results, and all other texts get this error. */
export async function failChunk(
  chunkId: ChunkId,
  /** `error`: why the job did not score the chunk. `jobId`: the id of that job, whose calls are counted. */
  { error, jobId }: { readonly error: string; readonly jobId: string },
  options: BatchStorage,
): Promise<EndedChunk> {
  const found = await findChunk(chunkId, options);
  if (found.kind !== 'open') return found;
  const { texts, request, host } = await readOpenChunk(chunkId, found.row.part, options.store);
  const distinct = [...new Set(texts.map(({ text }) => text))];
  const requests = distinct.map((text) => ({ ...request, text }));
  const lookups = await createScoreCache({ ...options, host, owner: jobId, attemptMs: 0 }).lookup(
    requests,
    jobId,
  );
  const outcomes = lookups.map((each, at) => [distinct[at] ?? '', recordedOutcome(each, error)] as const);
  const { results, settle } = settleTexts(texts, new Map(outcomes));
  const ended = await endChunk(chunkId, results, options);
  if (ended.kind === 'ended') await settle();
  return ended;
}

function recordedOutcome(
  found: Awaited<ReturnType<ScoreCache['lookup']>>[number],
  error: string,
): TextOutcome {
  if (found.kind === 'scored') return found;
  // The worker that has claimed the text counts its calls.
  if (found.kind === 'held') return { kind: 'failed', error, calls: 0 };
  return { kind: 'failed', error, calls: found.claim.sends(), claim: found.claim };
}
