import { textHashOf } from '../cache/cache-row.ts';
import { createScoreCache, type Looked } from '../cache/score-cache.ts';
import { type TextOutcome, withResult } from '../scoring/score-text.ts';
import { settled, type TextResult } from '../scoring/score-texts.ts';
import { type BatchStorage, type ChunkId, partPrefix } from './batch.ts';
import { type ChunkCounts, type Costs, countChunk } from './chunk-counts.ts';
import {
  type ChunkRow,
  type EndedChunkRow,
  isEnded,
  readChunkRow,
  type StoredChunk,
  writeChunkRow,
} from './chunk-row.ts';
import { finishBatch, type Summary } from './finish-batch.ts';
import { type Part, printPart, readPriorPart, type Score, scoredRow } from './part.ts';
import { chunkMessage, readStaged, type StagedRow } from './staged-chunk.ts';

/** `gone`: the batch was erased, and nothing was written. `was-ended`: another worker ended the chunk first. */
export type EndedChunk =
  | {
      readonly kind: 'ended' | 'was-ended';
      /** Key of the part. */
      readonly part: string;
      /** What the chunk has cost, in all of its jobs. */
      readonly costs: Costs;
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
  for (;;) {
    const found = await findChunk(chunkId, options);
    if (found.kind !== 'open') return found;
    const { row: open, token } = found;
    const { part, counts } = await makePart(chunkId, open, results, options);
    // Parts that earlier attempts to end the chunk left behind, and the one before it was reopened.
    const leftovers = await Array.fromAsync(options.store.list(partPrefix(chunkId)), ({ key }) => key);
    await options.store.put(part.key, part.body);
    const ended: EndedChunkRow = { ...open, state: 'ended', part: part.key, counts };
    const now = await writeChunkRow(chunkId, ended, token, options);
    if (now?.row === ended) {
      for (const key of leftovers) if (key !== part.key) await options.store.delete(key);
      return conclude('ended', chunkId, ended, options);
    }
    // A row that is still open has changed since one of the chunk's texts was forgotten: then the part is made again.
    const isOver = now === undefined || isEnded(now.row);
    if (isOver && now?.row.part !== part.key) await options.store.delete(part.key);
  }
}

/** How a chunk ended, or that it is gone; or its row while it is open. */
export async function findChunk(
  chunkId: ChunkId,
  options: BatchStorage,
): Promise<EndedChunk | (StoredChunk & { readonly kind: 'open' })> {
  const stored = await readChunkRow(chunkId, options);
  if (stored === undefined) return { kind: 'gone' };
  if (isEnded(stored.row)) return conclude('was-ended', chunkId, stored.row, options);
  return { kind: 'open', ...stored };
}

async function makePart(
  chunkId: ChunkId,
  open: ChunkRow,
  results: readonly TextResult[],
  { store }: BatchStorage,
): Promise<{ readonly part: Part; readonly counts: ChunkCounts }> {
  const { rows: staged } = await readStaged(chunkId, store);
  const prior = await readPriorPart(open, store);
  const byLine = new Map<string, Score>(results.map((result) => [result.id, result]));
  let equal = 0;
  const scoreOf = (row: StagedRow): Score | undefined => {
    const known = prior.ofLine(row.line);
    if (known !== undefined) return { result: known };
    const scored = byLine.get(String(row.line));
    const same = scored === undefined && 'text' in row ? prior.ofText(textHashOf(row.text)) : undefined;
    if (same === undefined) return scored;
    equal += 1;
    return { result: same };
  };
  const rows = staged.map((row) => scoredRow(row, scoreOf(row)));
  const bad = staged.filter((row) => 'fault' in row).length;
  const counts = countChunk({ rows, bad, results, equal, before: open.counts });
  return { part: printPart(chunkId, rows), counts };
}

const conclude = async (
  kind: 'ended' | 'was-ended',
  { batch }: ChunkId,
  { part, counts: { cached, calls, paidAgain, tokens } }: EndedChunkRow,
  options: BatchStorage,
): Promise<EndedChunk> => ({
  kind,
  part,
  costs: { cached, calls, paidAgain, tokens },
  summary: await finishBatch(batch, options),
});

/** Why a chunk’s job did not score it, and the id of that job, which counts what it paid for. */
export type ChunkFailure = { readonly error: string; readonly payer: string };

/**
 * Ends a chunk whose job failed or has an unknown outcome: rows whose texts were scored, whoever did it, have their
 * results, and each of the others fails with this error. The calls of all of them are counted.
 */
export async function failChunk(
  chunkId: ChunkId,
  { error, payer }: ChunkFailure,
  options: BatchStorage,
): Promise<EndedChunk> {
  const found = await findChunk(chunkId, options);
  if (found.kind !== 'open') return found;
  const staged = await readStaged(chunkId, options.store);
  const { texts } = chunkMessage(chunkId, staged);
  const distinct = [...new Set(texts.map(({ text }) => text))];
  // It claims nothing.
  const cache = createScoreCache({ ...options, host: staged.host, owner: payer, attemptMs: 0 });
  const looked = await cache.look(
    distinct.map((text) => ({ ...staged.request, text })),
    payer,
  );
  const outcomes = looked.map((each, at) => [distinct[at] ?? '', recordedOutcome(each, error)] as const);
  const { results, settle } = settled(texts, new Map(outcomes));
  const ended = await endChunk(chunkId, results, options);
  if (ended.kind === 'ended') await settle();
  return ended;
}

function recordedOutcome(looked: Looked, error: string): TextOutcome {
  if (looked.kind === 'scored') return withResult(looked);
  // Whoever holds the text will count its calls.
  if (looked.kind === 'held') return { kind: 'failed', error, calls: 0 };
  return { kind: 'failed', error, calls: looked.claim.sends(), claim: looked.claim };
}
