import { readSyncSettings } from '../../settings.ts';
import { openStore, type Store } from '../../store/index.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The store that is set, for commands that do not need the platform. Throws `SettingsError` with every fault. */
export async function openStoreOf(
  { environment, openStore: open = openStore }: Terminal,
  mustExist = false,
): Promise<Store> {
  return open(readSyncSettings(environment).SYNC_STORE, { s3: environment, mustExist });
}

/** The same for commands that only read: a folder that is not there is most likely mistyped. */
export const openStoreToRead = (terminal: Terminal): Promise<Store> => openStoreOf(terminal, true);
