import type { SettingName } from '../contract.ts';
import type { SyncSettings } from '../settings.ts';
import { UsageError } from './usage-error.ts';

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
