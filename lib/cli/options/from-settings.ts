import type { SettingName } from '../../contract.ts';
import type { Ledger } from '../../jobs/ledger/ledger.ts';
import type { TimedTable } from '../../jobs/timed-table.ts';
import { readSyncSettings, type SyncSettings } from '../../settings.ts';
import { openStore, type Store } from '../../store/index.ts';
import { sqlitePath, warnOfThisHost } from '../../table/index.ts';
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

/** The ledger that is set. Throws a `UsageError` that names the command if none is. */
export async function openLedgerFor(command: string, { environment, err }: Terminal): Promise<Ledger> {
  const tableName = settingFor(command, readSyncSettings(environment), 'SYNC_TABLE');
  const { openLedger } = await import('../jobs/open-jobs.ts');
  warnOfThisHost(environment, err);
  return openLedger(tableName, environment);
}

type ScoreTable = Pick<TimedTable, 'table' | 'now'> & {
  /** Leaves nothing of deleted rows in a file. A table in DynamoDB does so by itself. */
  readonly erase: () => Promise<void>;
};

/** Where scores are cached and chunks counted. Throws a `UsageError` that names the command if there is no table. */
export async function openScoreTable(
  command: string,
  { environment }: Pick<Terminal, 'environment'>,
): Promise<ScoreTable> {
  const tableName = settingFor(command, readSyncSettings(environment), 'SYNC_TABLE');
  const { openTimedTable } = await import('../../jobs/timed-table.ts');
  const timed = await openTimedTable(tableName, environment);
  const path = sqlitePath(tableName);
  if (path === undefined) return { ...timed, erase: async () => undefined };
  const { sqliteFile } = await import('../../table/sqlite-file.ts');
  return { ...timed, erase: () => sqliteFile(path).erase() };
}
