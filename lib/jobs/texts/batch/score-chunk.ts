import type { ScoreJob } from '../../types/score/message.ts';
import { textHashOf } from '../cache/cache-row.ts';
import type { ScoreTextsOptions } from '../scoring/run.ts';
import { type Scored, scoreTexts, type TextResult } from '../scoring/score-texts.ts';
import type { BatchStorage, ScoreRequest } from './batch.ts';
import { openCallLimit } from './call-limit.ts';
import { type EndedChunk, endChunk, findChunk } from './end-chunk.ts';
import { readPriorPart } from './part.ts';
import { readStaged } from './staged-chunk.ts';

export type ScoredChunk =
  | Exclude<Scored, { readonly kind: 'scored' }>
  | {
      readonly kind: 'scored';
      readonly results: readonly TextResult[];
      readonly chunk: EndedChunk | undefined;
    };

/**
 * Does a `score` job: scores its texts and, if it belongs to a batch, ends its chunk. Repeating it does no harm: a
 * chunk that has ended, or was erased, has no `results` and costs no call; of one that was reopened, only the rows are
 * scored that have no result. Throws what the store and the table throw.
 */
export async function scoreChunk(
  job: ScoreJob,
  given: Omit<ScoreTextsOptions, 'payer'> & BatchStorage,
): Promise<ScoredChunk> {
  const options = { ...given, payer: job.id };
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
  const { rows } = await readStaged(chunkId, options.store);
  const prior = await readPriorPart(found.row, options.store);
  // The message still contains texts that were forgotten after it was sent.
  const wanted = new Set(rows.flatMap((row) => ('text' in row ? [String(row.line)] : [])));
  const texts = job.texts.filter(
    ({ id, text }) => wanted.has(id) && prior.ofText(textHashOf(text)) === undefined,
  );
  const limit = await openCallLimit(batch, options);
  const scored = await scoreTexts(texts, requestOf(job), { ...options, limit });
  if (scored.kind !== 'scored') return scored;
  const ended = await endChunk(chunkId, scored.results, options);
  if (ended.kind === 'ended') await scored.settle();
  return { kind: 'scored', results: scored.results, chunk: ended };
}

/** What a job requests for each of its texts. */
export function requestOf(job: ScoreJob): ScoreRequest {
  const { version, type, id, notBefore, priority, texts, batch, chunk, ...request } = job;
  return request;
}
