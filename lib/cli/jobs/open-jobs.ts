import { randomUUID } from 'node:crypto';
import { openTimedTable } from '../../jobs/job-storage.ts';
import { createLedger } from '../../jobs/ledger/ledger.ts';
import { warnOfThisHost } from '../../places.ts';
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
