import { openJobState } from '../../jobs/index.ts';
import { warnOfUnsharedTable } from '../../locations.ts';
import { needed, readSyncSettings } from '../../settings.ts';
import { openStoreOf } from '../options/from-settings.ts';
import type { Terminal } from '../terminal/terminal.ts';

/**
 * Opens the ledger and the batches of texts in the configured table. Does not need the platform. Throws
 * `SettingsError` if no table is set.
 */
export async function openJobs(terminal: Terminal) {
  needed(readSyncSettings(terminal.environment), 'SYNC_TABLE');
  warnOfUnsharedTable(terminal.environment, terminal.err);
  return openJobState(terminal.environment, await openStoreOf(terminal));
}
