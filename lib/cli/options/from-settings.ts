import { storeAsOf } from '../../report/index.ts';
import { readSyncSettings } from '../../settings.ts';
import { openStore, type Store } from '../../store/index.ts';
import { asUsage } from '../errors/usage-error.ts';
import type { Terminal } from '../terminal/terminal.ts';

/**
 * The store that is set, for commands that do not need the platform; with `atMs`, as it was then. Throws `SettingsError` with
 * every fault, and `UsageError` if nothing had been published by then.
 */
export async function openStoreOf(
  { environment, openStore: open = openStore }: Terminal,
  atMs?: number | undefined,
): Promise<Store> {
  const store = await open(readSyncSettings(environment).SYNC_STORE, { s3: environment });
  if (atMs === undefined) return store;
  return storeAsOf(store, atMs).catch((error: unknown) => {
    throw asUsage('--at', error);
  });
}
