import { openStoredCache, type StoredCache } from '../jobs/texts/cache/stored-cache.ts';
import { openTimedTable } from '../jobs/timed-table.ts';
import type { Environment } from '../settings.ts';
import type { Store } from '../store/store.ts';
import { sqlitePath } from '../table/sqlite-place.ts';

type ScoreTable = StoredCache & {
  /** The time of claims, in epoch milliseconds: the table's, so that workers with other clocks agree. */
  readonly now: () => number;
};

/** Where scores are cached and chunks counted: the table that is set, or files in the store if there is none. */
export async function openScoreTable(
  tableName: string | undefined,
  store: Store,
  environment: Environment,
): Promise<ScoreTable> {
  if (tableName === undefined) return { ...(await openStoredCache(store)), now: Date.now };
  const { table, now } = await openTimedTable(tableName, environment);
  const path = sqlitePath(tableName);
  if (path === undefined) return { table, now, flush: async () => undefined };
  const { sqliteFile } = await import('../table/sqlite-file.ts');
  return { table, now, flush: () => sqliteFile(path).erase() };
}
