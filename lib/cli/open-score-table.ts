import { openTimedTable, type TimedTable } from '../jobs/timed-table.ts';
import { readSyncSettings } from '../settings.ts';
import { sqlitePath } from '../table/sqlite-place.ts';
import { settingFor } from './setting-for.ts';
import type { Terminal } from './terminal.ts';

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
  const timed = await openTimedTable(tableName, environment);
  const path = sqlitePath(tableName);
  if (path === undefined) return { ...timed, erase: async () => undefined };
  const { sqliteFile } = await import('../table/sqlite-file.ts');
  return { ...timed, erase: () => sqliteFile(path).erase() };
}
