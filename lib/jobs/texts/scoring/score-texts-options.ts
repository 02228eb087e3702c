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
  /** The job that the texts are of: what it paid for in an earlier try is counted as its own. */
  readonly payer?: string | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Epoch milliseconds after which no call is begun and nobody is waited for. Default: none. */
  readonly deadlineMs?: number | undefined;
  /** The longest that it waits for texts that others score, in milliseconds. Default 120,000. */
  readonly maxWaitMs?: number | undefined;
  readonly retry?: Partial<RetryLimits> | undefined;
  readonly signal?: AbortSignal | undefined;
};
