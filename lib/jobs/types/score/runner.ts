import { printJson } from '../../../json/json.ts';
import type { Platform } from '../../../platform/client.ts';
import type { BatchStorage } from '../../texts/batch/batch.ts';
import { scoreChunk } from '../../texts/batch/score-chunk.ts';
import type { ScoreCache } from '../../texts/cache/score-cache.ts';
import type { Analyze, ScoreTextsOptions } from '../../texts/scoring/score-texts-options.ts';
import { HandBackError, type RunJob } from '../../turn.ts';
import type { ScoreJob } from './message.ts';

export type ScoreRunnerOptions = Pick<ScoreTextsOptions, 'now' | 'sleep' | 'random' | 'retry'> & {
  readonly platform: Pick<Platform, 'sentiment'>;
  readonly cache: ScoreCache;
  readonly batches: BatchStorage;
};

/**
 * Scores texts, each paid for once. A text that the platform refuses fails alone. The response is `{results}`, one for
 * each text in order; for a chunk of a batch it is `{batch, chunk, part}`, and the results are in that part.
 */
export function scoreRunner({ platform, cache, batches, ...clock }: ScoreRunnerOptions): RunJob<ScoreJob> {
  return async (job, turn) => {
    const analyze: Analyze = (request, { beforeSend, onLeave, ...options } = {}) =>
      platform.sentiment.analyze(request, {
        ...options,
        finishes: true,
        // The job's own record first: a text must not be recorded as sent by a job that may not send.
        beforeSend: async () => {
          await turn.beforeSend();
          await beforeSend?.();
        },
        onLeave: () => {
          turn.onLeave();
          onLeave?.();
        },
      });
    const { signal, deadlineMs } = turn;
    const scored = await scoreChunk(job, { ...clock, ...batches, cache, analyze, signal, deadlineMs });
    if (scored.kind === 'later')
      throw new HandBackError(`${scored.waiting} texts are not scored yet`, scored.delayMs);
    const { results, chunk: ended } = scored;
    if (ended === undefined) return { status: 'done', response: printJson({ results }) };
    const { batch, chunk } = job;
    const part = ended.kind === 'gone' ? null : ended.part;
    return { status: 'done', response: printJson({ batch, chunk, part }) };
  };
}
