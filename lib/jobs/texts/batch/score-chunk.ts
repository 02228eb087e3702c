import type { ScoreJob } from '../../types/score/message.ts';
import { type Scored, scoreTexts, type TextResult } from '../scoring/score-texts.ts';
import type { ScoreTextsOptions } from '../scoring/score-texts-options.ts';
import type { BatchStorage, ScoreRequest } from './batch.ts';
import { type EndedChunk, endChunk, findEnd } from './end-chunk.ts';
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
 * chunk that has ended, or was erased, has no `results` and costs no call. Throws what `scoreTexts` and `endChunk`
 * throw.
 */
export async function scoreChunk(
  job: ScoreJob,
  given: Omit<ScoreTextsOptions, 'payer'> & BatchStorage,
): Promise<ScoredChunk> {
  const options = { ...given, payer: job.id };
  const { batch, chunk } = job;
  if (batch === undefined || chunk === undefined) {
    const scored = await scoreTexts(job.texts, requestOf(job), options);
    return scored.kind === 'later' ? scored : { ...scored, chunk: undefined };
  }
  const chunkId = { batch, chunk };
  const found = await findEnd(chunkId, options);
  if (found !== undefined) return { kind: 'scored', results: [], chunk: found };
  const { rows } = await readStaged(chunkId, options.store);
  // The message still contains texts that were forgotten after it was sent.
  const wanted = new Set(rows.flatMap((row) => ('text' in row ? [String(row.line)] : [])));
  const texts = job.texts.filter(({ id }) => wanted.has(id));
  const scored = await scoreTexts(texts, requestOf(job), options);
  return scored.kind === 'later'
    ? scored
    : { ...scored, chunk: await endChunk(chunkId, scored.results, options) };
}

/** What a job requests for each of its texts. */
function requestOf(job: ScoreJob): ScoreRequest {
  const { topics, instructions, model, modelConfiguration, reasoningConfig, sessionId } = job;
  const requested = { topics, instructions, model, modelConfiguration, reasoningConfig, sessionId };
  return Object.fromEntries(Object.entries(requested).filter(([, value]) => value !== undefined));
}
