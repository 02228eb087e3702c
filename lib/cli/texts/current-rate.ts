import { openBudget, readPaceStatus, throttledLine } from '../../pace/index.ts';
import { type Environment, readPaceSettings } from '../../settings.ts';

/**
 * The rate in requests a second at which the fleet may send now. Without a table, it is the configured rate. Undefined
 * if the settings have no platform.
 */
export async function currentRate(
  environment: Environment,
): Promise<{ readonly rate: number; readonly isPaused: boolean } | undefined> {
  if (!environment['PLATFORM_BASE_URL']) return undefined;
  const { rate, item } = await fleetOf(environment);
  if (item === undefined) return { rate, isPaused: false };
  const { effectiveRate, budget } = await readPaceStatus(item, rate);
  return { rate: effectiveRate, isPaused: budget.pausedAtMs !== undefined };
}

/** A line for each operation that is throttled by itself; empty if the settings have no platform or no table. */
export async function throttledNow(environment: Environment): Promise<readonly string[]> {
  if (!environment['PLATFORM_BASE_URL']) return [];
  const { rate, item } = await fleetOf(environment);
  if (item === undefined) return [];
  const { throttledOperations } = await readPaceStatus(item, rate);
  return throttledOperations.map(throttledLine);
}

async function fleetOf(environment: Environment) {
  const { SYNC_TABLE: table, PLATFORM_BASE_URL, PLATFORM_RATE: rate } = readPaceSettings(environment);
  if (table === undefined) return { rate, item: undefined };
  const { host } = new URL(PLATFORM_BASE_URL);
  return { rate, item: await openBudget({ table, host, environment, attempts: ATTEMPTS }) };
}

/** How many times a request to the table is sent at most: few times, since a user is waiting. */
const ATTEMPTS = 3;
