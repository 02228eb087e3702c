import { randomUUID } from 'node:crypto';
import type { Ledger } from '../../jobs/ledger/ledger.ts';
import { createLedger } from '../../jobs/ledger/ledger.ts';
import { jobId } from '../../jobs/message/fields.ts';
import type { BatchStorage } from '../../jobs/texts/batch/batch.ts';
import { openTimedTable } from '../../jobs/timed-table.ts';
import { type Environment, readSyncSettings } from '../../settings.ts';
import { sqlitePath, warnOfThisHost } from '../../table/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { openStoreOf, settingFor } from '../options/from-settings.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The table that is set. Throws a `UsageError` that names the command if there is none. */
export function openTableFor(command: string, { environment }: Pick<Terminal, 'environment'>) {
  return openTimedTable(settingFor(command, readSyncSettings(environment), 'SYNC_TABLE'), environment);
}

export const openLedger = async (tableName: string, environment: Environment): Promise<Ledger> =>
  createLedger(await openTimedTable(tableName, environment));

/** What the commands for jobs work with, without the platform. */
export type JobParts = { readonly ledger: Ledger; readonly batches: BatchStorage };

/** The ledger, and the batches of bulk texts, in the table that is set. Throws as `openTableFor`. */
export async function openJobsFor(command: string, terminal: Terminal): Promise<JobParts> {
  const timed = await openTableFor(command, terminal);
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

/** Checks ids of jobs, as typed. Throws `UsageError` for an invalid one. */
export function checkedJobIds(ids: readonly string[]): readonly string[] {
  for (const id of ids) {
    if (!jobId.safeParse(id).success)
      throw new UsageError(`job id: expected 1 to 128 of A-Z a-z 0-9 . _ : -, got ${JSON.stringify(id)}`);
  }
  return ids;
}
