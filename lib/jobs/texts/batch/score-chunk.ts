import type { ScoreJob } from '../../types/score/message.ts';
import { type Scored, scoreTexts, type TextAnswer } from '../scoring/score-texts.ts';
import type { ScoreTextsOptions } from '../scoring/score-texts-options.ts';
import type { BatchPlace, ScoreRequest } from './batch.ts';
import { type EndedChunk, endChunk, findEnd } from './end-chunk.ts';
import { readStaged } from './staged-chunk.ts';

export type ScoredChunk =
  | Exclude<Scored, { readonly kind: 'scored' }>
  | {
      readonly kind: 'scored';
      readonly answers: readonly TextAnswer[];
      readonly chunk: EndedChunk | undefined;
    };

/**
 * Does a `score` job: scores its texts, and ends the chunk of the batch that it is a piece of, if it is one. Doing it
 * again does no harm: a chunk that has ended, or was erased, has no `answers` and costs no call. Throws as
 * `scoreTexts` and `endChunk` do.
 */
export async function scoreChunk(
  job: ScoreJob,
  given: Omit<ScoreTextsOptions, 'payer'> & BatchPlace,
): Promise<ScoredChunk> {
  const options = { ...given, payer: job.id };
  const { batch, chunk } = job;
  if (batch === undefined || chunk === undefined) {
    const scored = await scoreTexts(job.texts, requestOf(job), options);
    return scored.kind === 'later' ? scored : { ...scored, chunk: undefined };
  }
  const place = { batch, chunk };
  const found = await findEnd(place, options);
  if (found !== undefined) return { kind: 'scored', answers: [], chunk: found };
  const { rows } = await readStaged(place, options.store);
  // Texts that were forgotten since the message was sent are in it still.
  const wanted = new Set(rows.flatMap((row) => ('text' in row ? [String(row.line)] : [])));
  const texts = job.texts.filter(({ id }) => wanted.has(id));
  const scored = await scoreTexts(texts, requestOf(job), options);
  return scored.kind === 'later'
    ? scored
    : { ...scored, chunk: await endChunk(place, scored.answers, options) };
}

/** What a job asks of each of its texts. */
export function requestOf(job: ScoreJob): ScoreRequest {
  const { topics, instructions, model, modelConfiguration, reasoningConfig, sessionId } = job;
  const asked = { topics, instructions, model, modelConfiguration, reasoningConfig, sessionId };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}
