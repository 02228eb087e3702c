import { readSyncSettings } from '../../settings.ts';
import { openStore, type Store } from '../../store/index.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The store that is set, for commands that do not need the platform. Throws `SettingsError` with every fault. */
export const openStoreOf = async ({ environment, openStore: open = openStore }: Terminal): Promise<Store> =>
  open(readSyncSettings(environment).SYNC_STORE, { s3: environment });
