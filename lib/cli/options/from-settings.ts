import type { SettingName } from '../../contract.ts';
import { readSyncSettings, type SyncSettings } from '../../settings.ts';
import { openStore, type Store } from '../../store/index.ts';
import { UsageError } from '../errors/usage-error.ts';
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

const MEANING = {
  SYNC_TABLE: 'the table that holds the ledger of the queue’s jobs',
  SYNC_QUEUE_URL: 'the URL of the jobs queue',
} as const satisfies Partial<Record<SettingName, string>>;

/** A setting that a command cannot do without. Throws a `UsageError` that says what the setting is. */
export function settingFor(
  command: string,
  settings: Partial<SyncSettings>,
  name: keyof typeof MEANING,
): string {
  const value = settings[name];
  if (value === undefined)
    throw new UsageError(`${command}: expected ${name}, ${MEANING[name]}, got nothing`);
  return value;
}
