import type { Observe, Platform } from '../platform/index.ts';
import { operations } from '../platform/operations/index.ts';
import { openSession } from '../session.ts';
import type { Environment } from '../settings.ts';

/** Options for a client that is made from settings. */
export type OpenPlatformOptions = {
  /** Receives the lines of the log, each one JSON object; `LOG_LEVEL` decides which. Default: nothing does. */
  readonly onLog?: (line: string) => void;
  /** Called for everything that happens to a call; errors that it throws are ignored. */
  readonly observe?: Observe;
};

/**
 * Makes a client from the settings of commands and deployed functions, such as `process.env`: `PLATFORM_BASE_URL`,
 * `PLATFORM_TOKEN` or `PLATFORM_TOKEN_SECRET`, `PLATFORM_RATE` and others. Where `SYNC_TABLE` is set, its calls share the
 * budget of the whole fleet. Make one for a process: each has a pace of its own. Opens no connection until the first
 * call. Throws `SettingsError` with every fault.
 */
export function openPlatform(
  environment: Environment,
  { onLog = () => undefined, observe }: OpenPlatformOptions = {},
): Platform {
  const { call } = openSession({
    environment,
    err: onLog,
    isAlone: true,
    ...(observe === undefined ? {} : { observe }),
  });
  return operations(call);
}
