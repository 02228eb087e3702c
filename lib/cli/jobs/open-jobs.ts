import { randomUUID } from 'node:crypto';
import { type Allow, AllowError, readAllow } from '../../jobs/allow.ts';
import { createLedger } from '../../jobs/ledger/create-ledger.ts';
import type { Ledger } from '../../jobs/ledger/ledger.ts';
import { jobId } from '../../jobs/message/fields.ts';
import type { BatchStorage } from '../../jobs/texts/batch/batch.ts';
import { openTimedTable } from '../../jobs/timed-table.ts';
import { type Environment, SettingsError } from '../../settings.ts';
import type { Store } from '../../store/index.ts';
import { UsageError } from '../errors/usage-error.ts';

/*
 * What the commands for jobs open without the platform. Loaded only with a command that needs it.
 */

export const openLedger = async (tableName: string, environment: Environment): Promise<Ledger> =>
  createLedger(await openTimedTable(tableName, environment));

/** The ledger, and the batches of bulk texts, in one table. */
export async function openLedgerParts(
  tableName: string,
  environment: Environment,
  store: Store,
): Promise<{ readonly ledger: Ledger; readonly batches: BatchStorage }> {
  const timed = await openTimedTable(tableName, environment);
  return { ledger: createLedger(timed), batches: { store, newToken: randomUUID, ...timed } };
}

/** What SYNC_ALLOW lets jobs use. Throws `SettingsError`. */
export function allowOf(setting: string | undefined): Allow {
  try {
    return readAllow(setting);
  } catch (error) {
    throw asSettingsError(error);
  }
}

/** Turns a wrong SYNC_ALLOW into a `SettingsError`; any other error stays as it is. */
export const asSettingsError = (error: unknown): unknown =>
  error instanceof AllowError ? new SettingsError(error.faults) : error;

/** Checks ids of jobs, as typed. Throws `UsageError` for an invalid one. */
export function checkedJobIds(ids: readonly string[]): readonly string[] {
  for (const id of ids) {
    if (!jobId.safeParse(id).success)
      throw new UsageError(`job id: expected 1 to 128 of A-Z a-z 0-9 . _ : -, got ${JSON.stringify(id)}`);
  }
  return ids;
}
