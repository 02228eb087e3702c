import type { Ledger } from '../jobs/ledger/ledger.ts';
import { readSyncSettings } from '../settings.ts';
import { settingFor } from './setting-for.ts';
import type { Terminal } from './terminal.ts';

/** The ledger that is set. Throws a `UsageError` that names the command if none is. */
export async function openLedgerFor(command: string, { environment }: Terminal): Promise<Ledger> {
  const tableName = settingFor(command, readSyncSettings(environment), 'SYNC_TABLE');
  const { openLedger } = await import('./open-jobs.ts');
  return openLedger(tableName, environment);
}
