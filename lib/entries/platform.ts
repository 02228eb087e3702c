/* What `platform-sync/platform` exports: a client with its pace and its errors. */

export {
  createLocalPace,
  type LocalPaceOptions,
  type Pace,
  type PaceCounts,
} from '../pace/index.ts';
export type { CallOptions } from '../platform/call.ts';
export type { Page, PagesOptions } from '../platform/client.ts';
export { createPlatform, type Platform } from '../platform/client.ts';
export type { Observe, PlatformEvent } from '../platform/events.ts';
export type { ConnectionPhase, PlatformFailure } from '../platform/failure.ts';
export type { PlatformOptions } from '../platform/open-calls.ts';
export type { SentimentRequest } from '../platform/operations/analyze-sentiment.ts';
export type { FunctionCall } from '../platform/operations/run-function.ts';
export type { CalculationSearch } from '../platform/operations/search-calculations.ts';
export type { FileSearch } from '../platform/operations/search-files.ts';
export { PlatformError } from '../platform/platform-error.ts';
export type {
  Calculation,
  CalculationRow,
  Card,
  DataFile,
  FileRecord,
  FunctionExecution,
  Sentiment,
} from '../platform/records.ts';
export type { RetryLimits } from '../platform/retry.ts';
export { fixedToken, type SecretTokenOptions, secretToken, type TokenSource } from '../platform/token.ts';
export { type Environment, SettingsError } from '../settings.ts';
export { type OpenPlatformOptions, openPlatform } from './open-platform.ts';
