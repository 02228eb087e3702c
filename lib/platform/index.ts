/* The client of the platform. What is imported from here is light; the client itself is made by `createPlatform` of client.ts. */

export type { Call, CallOptions, HoldLeft, OnOdd, ReadAnswer } from './call.ts';
export type { Platform } from './client.ts';
export type { Endpoint, EndpointInput } from './endpoint.ts';
export type { CallCounts, Observe, PlatformEvent } from './events.ts';
export { describeFailure, isStatus, isUnreached, type PlatformFailure } from './failure.ts';
export { compareIds, type Id, idDigits, idSchema, MAX_ID_DIGITS } from './id.ts';
export { type SentimentRequest, topicName } from './operations/analyze-sentiment.ts';
export type { FileSearch } from './operations/search-files.ts';
export { PlatformError } from './platform-error.ts';
export {
  type Calculation,
  type CalculationRow,
  type FunctionExecution,
  isNothing,
  type Sentiment,
  timeMs,
  tokensOf,
  totalIn,
} from './records.ts';
export type { RetryLimits } from './retry.ts';
