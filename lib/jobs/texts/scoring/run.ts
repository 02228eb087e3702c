import type {
  CallOptions,
  PlatformError,
  RetryLimits,
  Sentiment,
  SentimentRequest,
} from '../../../platform/index.ts';
import type { CallLimit } from '../batch/call-limit.ts';
import type { ScoreCache } from '../cache/score-cache.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import { type Alike, afterFailedText, isRefusedText, mustStop, noneAlike } from './stopping.ts';
import { createTextGate, type TextGate } from './text-gate.ts';

/** Calls the platform: `platform.sentiment.analyze`. */
export type Analyze = (request: SentimentRequest, options?: CallOptions) => Promise<Sentiment>;

/** What texts are scored with. */
export type ScoreTextsOptions = {
  readonly cache: ScoreCache;
  readonly analyze: Analyze;
  /** Bounds the calls of the batch. Default: nothing does. */
  readonly limit?: CallLimit | undefined;
  /** What all chunks of the process pass through. Default: one of its own. */
  readonly gate?: TextGate | undefined;
  /** What is known of this request's refusals, over all chunks of the process. Default: of this chunk alone. */
  readonly refusals?: Refusals | undefined;
  /** The most texts in work at once, those that wait for another try included. Default 8. */
  readonly atOnce?: number | undefined;
  /** The job that the texts belong to: what it paid for in an earlier try is counted as its own. */
  readonly payer?: string | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Epoch milliseconds after which it starts no call and stops waiting. Default: none. */
  readonly deadlineMs?: number | undefined;
  /** How long it waits for texts that other workers are scoring, once the others are done, in milliseconds. Default 120,000. */
  readonly maxWaitMs?: number | undefined;
  readonly retry?: Partial<RetryLimits> | undefined;
  /** No text is begun once it is aborted. Calls that have left finish: they are paid for. */
  readonly signal?: AbortSignal | undefined;
};

/** Why a run stopped before all of its texts were tried. */
export type Stop =
  /** `alike`: different texts failed alike, so the remaining ones would most likely fail too. */
  | { readonly kind: 'error'; readonly error: unknown; readonly alike: boolean }
  /** The pace has no turn for them soon. */
  | { readonly kind: 'later'; readonly delayMs: number };

/** What the texts of one run share. */
export type Run = ReturnType<typeof startRun>;

export function startRun(options: ScoreTextsOptions) {
  const { gate = createTextGate(), refusals = createRefusals(), signal: caller, deadlineMs, now } = options;
  const stopping = new AbortController();
  const signal: AbortSignal =
    caller === undefined ? stopping.signal : AbortSignal.any([caller, stopping.signal]);
  let stopped: Stop | undefined;
  let departures = 0;
  let successes = 0;
  let alike: Alike = noneAlike;
  /** The first reason counts. */
  const stop = (why: Stop) => {
    stopped ??= why;
    stopping.abort(new StoppedError());
  };
  return {
    ...options,
    enter: gate.enter(),
    /** Aborted once no further text may be begun. */
    signal,
    stop,
    stopped: () => stopped,
    /** Records that a call has left. */
    left: () => {
      departures += 1;
    },
    /** How many calls have left. */
    departures: () => departures,
    /** How many texts calls have scored. */
    successes: () => successes,
    /** Records that a call has scored a text. */
    succeeded: () => {
      successes += 1;
      alike = noneAlike;
      refusals.succeeded();
    },
    /** Records that the cache had a result: the request is right, whatever else is wrong now. */
    foundCached: refusals.hasScored,
    /** Records a text that failed after its tries; stops the run if it was one too many. */
    failed: (text: string, error: PlatformError) => {
      alike = afterFailedText(alike, error.failure);
      const isRefused = isRefusedText(error.failure);
      if (isRefused ? refusals.refused(text) : mustStop(alike, error.failure))
        stop({ kind: 'error', error, alike: true });
    },
    /** Whether time is up. */
    isOver: () => deadlineMs !== undefined && now() >= deadlineMs,
  };
}

/** Ends the texts in work once the run has stopped. */
class StoppedError extends Error {
  override readonly name = 'StoppedError';
}
