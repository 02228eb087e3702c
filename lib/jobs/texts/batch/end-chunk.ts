import type { TextAnswer } from '../scoring/score-texts.ts';
import type { BatchPlace, ChunkPlace } from './batch.ts';
import { partPrefix } from './batch.ts';
import { countChunk } from './chunk-counts.ts';
import { type EndedChunkRow, isEnded, readChunkRow, writeChunkRow } from './chunk-row.ts';
import { finishBatch, type Summary } from './finish-batch.ts';
import { printPart, scoredRow } from './part.ts';
import { readStaged } from './staged-chunk.ts';

/** `gone`: the batch was erased, and nothing was written. `was-ended`: somebody else's end stands. */
export type EndedChunk =
  | {
      readonly kind: 'ended' | 'was-ended';
      /** Key of the part. */
      readonly part: string;
      /** Once the whole batch has ended. */
      readonly summary: Summary | undefined;
    }
  | { readonly kind: 'gone' };

/**
 * Ends a chunk: writes its part, then marks its row, then the summary if it was the last. The first that ends a chunk
 * ends it for good; doing it again writes what may be missing and changes nothing. The ids of the answers are the
 * rows' lines. Throws `StoredObjectError` where the staged chunk is missing.
 */
export async function endChunk(
  place: ChunkPlace,
  answers: readonly TextAnswer[],
  options: BatchPlace,
): Promise<EndedChunk> {
  const byLine = new Map(answers.map((answer) => [answer.id, answer]));
  return end(place, { answers, answerOf: (line) => byLine.get(String(line)) }, options);
}

/** Ends a chunk whose job failed, or whose outcome is unknown: every row of it fails by this error. */
export async function failChunk(place: ChunkPlace, error: string, options: BatchPlace): Promise<EndedChunk> {
  return end(place, { answers: [], answerOf: () => ({ error }) }, options);
}

/** The end of a chunk that has ended, or is gone; undefined while it is open. */
export async function findEnd(place: ChunkPlace, options: BatchPlace): Promise<EndedChunk | undefined> {
  const stored = await readChunkRow(place, options);
  if (stored === undefined) return { kind: 'gone' };
  return isEnded(stored.row) ? conclude('was-ended', place, stored.row, options) : undefined;
}

type Outcome = {
  readonly answers: readonly TextAnswer[];
  readonly answerOf: (line: number) => Pick<TextAnswer, 'result' | 'error'> | undefined;
};

async function end(place: ChunkPlace, outcome: Outcome, options: BatchPlace): Promise<EndedChunk> {
  const { store } = options;
  const stored = await readChunkRow(place, options);
  if (stored === undefined) return { kind: 'gone' };
  if (isEnded(stored.row)) return conclude('was-ended', place, stored.row, options);

  const staged = await readStaged(place, store);
  const rows = staged.rows.map((row) => scoredRow(row, outcome.answerOf(row.line)));
  const part = printPart(place, rows);
  // Parts of ends that were not completed: no row names them, as long as this one is open.
  const leftovers = await Array.fromAsync(store.list(partPrefix(place)), ({ key }) => key);
  await store.put(part.key, part.body);
  const counts = countChunk(staged.rows, rows, outcome.answers);
  const ended: EndedChunkRow = { ...stored.row, state: 'ended', part: part.key, counts };
  const now = await writeChunkRow(place, ended, stored.token, options);
  if (now?.row === ended) {
    for (const key of leftovers) if (key !== part.key) await store.delete(key);
    return conclude('ended', place, ended, options);
  }
  // An open row that moved on: one of its texts was forgotten meanwhile.
  if (now !== undefined && !isEnded(now.row)) return end(place, outcome, options);
  if (now?.row.part !== part.key) await store.delete(part.key);
  return now !== undefined && isEnded(now.row)
    ? conclude('was-ended', place, now.row, options)
    : { kind: 'gone' };
}

const conclude = async (
  kind: 'ended' | 'was-ended',
  { batch }: ChunkPlace,
  { part }: EndedChunkRow,
  options: BatchPlace,
): Promise<EndedChunk> => ({ kind, part, summary: await finishBatch(batch, options) });
