import { randomUUID } from 'node:crypto';
import { openTimedTable } from '../../jobs/job-storage.ts';
import { createLedger } from '../../jobs/ledger/ledger.ts';
import { sqlitePath, warnOfThisHost } from '../../places.ts';
import { needed, readSyncSettings } from '../../settings.ts';

import { openStoreOf } from '../options/from-settings.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The table that is set. Throws `SettingsError` if there is none. */
export const openTable = async ({ environment }: Pick<Terminal, 'environment'>) =>
  openTimedTable(needed(readSyncSettings(environment), 'SYNC_TABLE'), environment);

/** The ledger, and the batches of bulk texts, in the table that is set: without the platform. Throws as `openTable`. */
export async function openJobs(terminal: Terminal) {
  const timed = await openTable(terminal);
  warnOfThisHost(terminal.environment, terminal.err);
  const store = await openStoreOf(terminal);
  return { ledger: createLedger(timed), batches: { store, newToken: randomUUID, ...timed } };
}

/** Leaves nothing of deleted rows in the table's file. A table in DynamoDB does so by itself. */
export async function eraseDeleted({ environment }: Pick<Terminal, 'environment'>): Promise<void> {
  const path = sqlitePath(readSyncSettings(environment).SYNC_TABLE ?? '');
  if (path === undefined) return;
  const { sqliteFile } = await import('../../table/sqlite-file.ts');
  await sqliteFile(path).erase();
}
