/*
 * The platform's client as its callers see it: calls, their results, and their failures. This door loads little code:
 * the operations are in `operations/index.ts`, and everything that opens connections is in `http/index.ts`.
 */

export type { Call, CallOptions, OnOdd, ReadAnswer, TrackSent } from './call.ts';
export type { Platform } from './client.ts';
export type { Endpoint, EndpointInput } from './endpoint.ts';
export type { CallCounts, Observe, PlatformEvent } from './events.ts';
export {
  describeFailure,
  isRefusal,
  isStatus,
  isTemporaryStatus,
  isUnreached,
  type PlatformFailure,
} from './failure.ts';
export type { SentimentRequest } from './operations/analyze-sentiment.ts';
export { PlatformError } from './platform-error.ts';
export {
  type Calculation,
  type CalculationRow,
  compareIds,
  type FunctionExecution,
  type Id,
  idDigits,
  idSchema,
  MAX_ID_DIGITS,
  type Sentiment,
  timeMs,
  tokensOf,
} from './records.ts';
export { createHide, MIN_RUN_LENGTH } from './redact.ts';
export { decideRetry, defaultRetryLimits, type RetryLimits } from './retry.ts';
