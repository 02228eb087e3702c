import type { SettingName } from '../contract.ts';
import { type Environment, readSettings, type Settings } from '../settings.ts';
import { UsageError } from './usage-error.ts';

const NAMES = [
  'SYNC_STORE',
  'SYNC_TABLE',
  'SYNC_QUEUE_URL',
  'SYNC_DEAD_LETTER_URL',
  'SYNC_GLUE_DATABASE',
  'SYNC_ALLOW',
] as const satisfies readonly SettingName[];

/** What jobs share, as the settings name it. */
export type SyncSettings = Pick<Settings, (typeof NAMES)[number]>;

/** Stands in for the platform, which is not asked. */
const NO_PLATFORM = { PLATFORM_BASE_URL: 'https://not-asked.invalid', PLATFORM_TOKEN: 'none' };

/**
 * The settings of what jobs share, by the rules of all settings, for commands that need no platform. Throws
 * `SettingsError`.
 */
export const readSyncSettings = (environment: Environment): SyncSettings =>
  readSettings({
    ...Object.fromEntries(NAMES.map((name) => [name, environment[name]])),
    ...NO_PLATFORM,
  });

const MEANING = {
  SYNC_TABLE: 'the DynamoDB table that holds the ledger of jobs',
  SYNC_QUEUE_URL: 'the URL of the jobs queue',
} as const satisfies Partial<Record<SettingName, string>>;

/** A setting that a command cannot do without. Throws `UsageError` that says what it is. */
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
