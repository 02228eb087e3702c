import { effectiveRate } from '../../pace/budget.ts';
import { type Environment, readPaceSettings } from '../../settings.ts';

/** Requests a second that may leave at the moment: 0 while they are paused. */
export type CurrentRate = { readonly rate: number; readonly isPaused: boolean };

/** The rate of the fleet, or the one that is set where there is no table. Undefined if no platform is set. */
export async function currentRate(
  environment: Environment,
  now = Date.now,
): Promise<CurrentRate | undefined> {
  if (!environment['PLATFORM_BASE_URL']) return undefined;
  const { SYNC_TABLE: tableName, PLATFORM_BASE_URL, PLATFORM_RATE } = readPaceSettings(environment);
  if (tableName === undefined) return { rate: PLATFORM_RATE, isPaused: false };
  const { openBudget } = await import('../../pace/stored-budget.ts');
  const { host } = new URL(PLATFORM_BASE_URL);
  const item = await openBudget({ table: tableName, host, environment, attempts: ATTEMPTS });
  const budget = await item.read();
  const rate = effectiveRate(budget.rate ?? PLATFORM_RATE, budget, now());
  return { rate, isPaused: budget.pausedAtMs !== undefined };
}

/** A person waits for it. */
const ATTEMPTS = 3;
