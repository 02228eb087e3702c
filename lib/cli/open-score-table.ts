import { openStoredCache, type StoredCache } from '../jobs/texts/cache/stored-cache.ts';
import type { Environment } from '../settings.ts';
import type { Store } from '../store/store.ts';
import { openTable } from './open-jobs.ts';

/** Where scores are cached and chunks counted: the table that is set, or files in the store if there is none. */
export async function openScoreTable(
  tableName: string | undefined,
  store: Store,
  environment: Environment,
): Promise<StoredCache> {
  if (tableName === undefined) return openStoredCache(store);
  return { table: await openTable(tableName, environment), flush: async () => undefined };
}
