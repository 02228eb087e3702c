import type { CallOptions, RetryLimits, Sentiment, SentimentRequest } from '../../../platform/index.ts';
import type { CallLimit } from '../batch/call-limit.ts';
import type { ScoreCache } from '../cache/score-cache.ts';
import { createFailures, type Failures } from './failures.ts';
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
  /** The failures of this request, over all chunks of the process. Default: of this chunk alone. */
  readonly failures?: Failures | undefined;
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
  const { gate = createTextGate(), failures = createFailures(), signal: caller, now } = options;
  const { deadlineMs = Number.POSITIVE_INFINITY } = options;
  const stopping = new AbortController();
  const signal: AbortSignal =
    caller === undefined ? stopping.signal : AbortSignal.any([caller, stopping.signal]);
  let stopped: Stop | undefined;
  return {
    ...options,
    deadlineMs,
    failures,
    enter: gate.enter(),
    /** Aborted once no further text may be begun. */
    signal,
    /** The first reason counts. */
    stop: (why: Stop) => {
      stopped ??= why;
      stopping.abort(new StoppedError());
    },
    stopped: () => stopped,
    /** How many calls have left, and how many of them have scored a text. */
    counts: { departures: 0, successes: 0 },
    /** Whether time is up. */
    isOver: () => now() >= deadlineMs,
  };
}

/** Ends the texts in work once the run has stopped. */
class StoppedError extends Error {
  override readonly name = 'StoppedError';
}
