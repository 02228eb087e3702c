import type { CallOptions } from '../../../platform/call.ts';
import type { SentimentRequest } from '../../../platform/operations/analyze-sentiment.ts';
import type { Sentiment } from '../../../platform/records.ts';
import type { RetryLimits } from '../../../platform/retry.ts';
import type { CallLimit } from '../batch/call-limit.ts';
import type { ScoreCache } from '../cache/score-cache.ts';
import type { Refusals } from './refusals.ts';
import type { TextGate } from './text-gate.ts';

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
