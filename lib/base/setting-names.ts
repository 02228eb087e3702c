/** The environment variables that commands and Lambdas read: what `lib/settings.ts` parses and infra sets. */
export const settingNames = [
  'PLATFORM_BASE_URL',
  'PLATFORM_TOKEN',
  'PLATFORM_TOKEN_SECRET',
  'PLATFORM_TOKEN_HEADER',
  'PLATFORM_RATE',
  'PLATFORM_CONCURRENCY',
  'PLATFORM_MAX_WAIT_MS',
  'PLATFORM_TIMEOUT_MS',
  'PLATFORM_MAX_RESPONSE_BYTES',
  'SYNC_STORE',
  'SYNC_COMPRESSION',
  'SYNC_PART_SECONDS',
  'SYNC_TABLE',
  'SYNC_QUEUE_URL',
  'SYNC_DEAD_LETTER_URL',
  'SYNC_GLUE_DATABASE',
  'SYNC_EVENT_BUS',
  'SYNC_ALLOW',
  'SYNC_STACK',
  'SYNC_SNAPSHOT_FUNCTION',
  'SYNC_FOLLOWERS',
  'SYNC_DIGEST_URL',
  'LOG_LEVEL',
] as const;

/** One of them. */
export type SettingName = (typeof settingNames)[number];
