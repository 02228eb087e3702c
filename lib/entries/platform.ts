/* What `platform-sync/platform` exports: a client with its pace and its errors. */

export {
  createLocalPace,
  type LocalPaceOptions,
  type Pace,
  type PaceCounts,
} from '../pace/index.ts';
export {
  type ConnectionPhase,
  createPlatform,
  fixedToken,
  type Page,
  type PagesOptions,
  type PlatformOptions,
  type SecretTokenOptions,
  secretToken,
  type TokenSource,
} from '../platform/http/index.ts';
export {
  type Calculation,
  type CalculationRow,
  type CallOptions,
  type FunctionExecution,
  type Observe,
  type Platform,
  PlatformError,
  type PlatformEvent,
  type PlatformFailure,
  type RetryLimits,
  type Sentiment,
  type SentimentRequest,
} from '../platform/index.ts';
export type {
  CalculationSearch,
  Card,
  DataFile,
  FileRecord,
  FileSearch,
  FunctionCall,
} from '../platform/operations/index.ts';
export { type Environment, SettingsError } from '../settings.ts';
export { type OpenPlatformOptions, openPlatform } from './open-platform.ts';
