import type { CallOptions } from '../../../platform/call.ts';
import type { SentimentRequest } from '../../../platform/operations/analyze-sentiment.ts';
import type { Sentiment } from '../../../platform/records.ts';
import type { RetryLimits } from '../../../platform/retry.ts';
import type { ScoreCache } from '../cache/score-cache.ts';

/** Calls the platform: `platform.sentiment.analyze`. */
export type Analyze = (request: SentimentRequest, options?: CallOptions) => Promise<Sentiment>;

/** What texts are scored with. */
export type ScoreTextsOptions = {
  readonly cache: ScoreCache;
  readonly analyze: Analyze;
  /** The job that the texts belong to: what it paid for in an earlier try is counted as its own. */
  readonly payer?: string | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Epoch milliseconds after which it starts no call and stops waiting. Default: none. */
  readonly deadlineMs?: number | undefined;
  /** How long it waits for texts that other workers are scoring, in milliseconds. Default 120,000. */
  readonly maxWaitMs?: number | undefined;
  readonly retry?: Partial<RetryLimits> | undefined;
  readonly signal?: AbortSignal | undefined;
};
