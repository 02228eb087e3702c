import { operations } from '../platform/http/index.ts';
import type { Observe, Platform } from '../platform/index.ts';
import { openSession } from '../session.ts';
import type { Environment } from '../settings.ts';

/* The exports of `platform-sync/platform`: a client with its pace and its errors. */

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

/** Options for a client that is opened from settings. */
export type OpenPlatformOptions = {
  /** Receives the lines of the log, each one JSON object; `LOG_LEVEL` decides which. Default: no log. */
  readonly onLog?: (line: string) => void;
  /** Called for each event of a call; errors that it throws are ignored. */
  readonly observe?: Observe;
};

/**
 * Opens a client from the settings of commands and deployed functions, such as `process.env`:
 * `PLATFORM_BASE_URL`, `PLATFORM_TOKEN` or `PLATFORM_TOKEN_SECRET`, `PLATFORM_RATE` (default 2 a second) and
 * others. If `SYNC_TABLE` is set, its calls share the budget of the fleet. Open only one in a process, since
 * each has a separate pace. The first call opens the connection. Throws `SettingsError` with every fault.
 *
 * ```ts
 * const platform = openPlatform(process.env); const { rows } = await platform.calculations.search({ sort: {
 * field: 'id', ascending: true }, limit: 10 });
 * ```
 */
export function openPlatform(
  environment: Environment,
  { onLog = () => undefined, observe }: OpenPlatformOptions = {},
): Platform {
  const { call } = openSession({
    environment,
    err: onLog,
    hasOwnPace: true,
    ...(observe === undefined ? {} : { observe }),
  });
  return operations(call);
}
