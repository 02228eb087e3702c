import { printJson } from '../../../base/json/index.ts';
import { type Platform, PlatformError } from '../../../platform/index.ts';
import { RequeueError, type RunJob, UnfinishedError } from '../../send-context.ts';
import type { BatchStorage } from '../../texts/batch/batch.ts';
import { totalCosts } from '../../texts/batch/chunk-counts.ts';
import { requestOf, scoreChunk } from '../../texts/batch/score-chunk.ts';
import type { ScoreCache } from '../../texts/cache/score-cache.ts';
import type { scoreTexts } from '../../texts/scoring/score-texts.ts';
import {
  type Analyze,
  createFailuresByRequest,
  createWaitLimit,
  maxWaitingAt,
  type ScoreTextsOptions,
} from '../../texts/scoring/scoring-session.ts';
import type { RunnerParts } from '../job-type-definition.ts';
import type { ScoreJob } from './message.ts';

/**
 * Creates the runner, which scores texts and pays for each text once. The response is `{results}`, in the order of the
 * texts. For a chunk of a batch it is `{batch, chunk, part}` with the chunk's cost, and the results are in that part. If a
 * stopped job ends, its response has the results so far and their cost.
 */
export function scoreRunner(
  parts: Pick<ScoreTextsOptions, 'now' | 'sleep' | 'random' | 'concurrency'> & {
    readonly platform: Pick<Platform, 'sentiment'>;
    readonly onSentiment?: RunnerParts['onSentiment'];
    readonly cache: ScoreCache;
    readonly batches: BatchStorage;
    readonly rate: number;
  },
): RunJob<ScoreJob> {
  const { platform, cache, batches, onSentiment, rate, ...others } = parts;
  const waitLimit = createWaitLimit(maxWaitingAt(rate));
  const failuresOf = createFailuresByRequest();
  return async (job, context) => {
    const analyze: Analyze = async (request, { beforeSend, onSend, ...options } = {}) => {
      const sentiment = await platform.sentiment.analyze(request, {
        ...options,
        priority: context.priority,
        finishes: true,
        // The job's send is recorded first, since a job that may not send must not record a text as sent.
        beforeSend: async () => {
          await context.beforeSend();
          await beforeSend?.();
        },
        onSend: () => {
          context.onSend();
          onSend?.();
        },
      });
      onSentiment?.(sentiment);
      return sentiment;
    };
    const { signal, lastSendMs: deadlineMs, isPlatformUnavailable, onProgress } = context;
    const failures = failuresOf(requestOf(job));
    const own = { signal, deadlineMs, isPlatformUnavailable, onProgress };
    const options = { ...others, ...batches, waitLimit, failures, cache, analyze, ...own };
    const scored = await scoreChunk(job, options);
    if (scored.kind === 'later')
      throw new RequeueError(`${scored.waiting} texts are not scored yet`, scored.delayMs);
    if (scored.kind === 'stopped') throw stoppedBy(scored, job);
    const { results, chunk: ended } = scored;
    if (ended === undefined) return { status: 'done', response: printJson({ results }) };
    const { batch, chunk } = job;
    const { part, costs } = ended.kind === 'gone' ? { part: null, costs: {} } : ended;
    return { status: 'done', response: printJson({ batch, chunk, part, ...costs }) };
  };
}

/** How long a stopped job waits if it has made progress, in milliseconds. */
const AFTER_PROGRESS_MS = 10_000;

/** The error that ends the try of a stopped job. A try that scored some texts does not count as a try. */
function stoppedBy(
  { error, results, progress }: Extract<Awaited<ReturnType<typeof scoreTexts>>, { readonly kind: 'stopped' }>,
  { batch, chunk }: ScoreJob,
): Error {
  if (error instanceof RequeueError) return error;
  if (error instanceof PlatformError && progress > 0)
    return new RequeueError(error.message, AFTER_PROGRESS_MS);
  const costs = totalCosts(results);
  const response = batch === undefined ? { results, ...costs } : { batch, chunk, ...costs };
  return new UnfinishedError(error, printJson(response));
}
