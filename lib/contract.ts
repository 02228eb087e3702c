/** The environment variables that commands and Lambdas read: what `lib/settings.ts` parses and infra sets. */
export const settingNames = [
  'PLATFORM_BASE_URL',
  'PLATFORM_TOKEN',
  'PLATFORM_TOKEN_SECRET',
  'PLATFORM_TOKEN_HEADER',
  'PLATFORM_RATE',
  'PLATFORM_CONCURRENCY',
  'PLATFORM_MAX_WAIT_MS',
  'PLATFORM_WORKERS',
  'PLATFORM_TIMEOUT_MS',
  'PLATFORM_MAX_RESPONSE_BYTES',
  'SYNC_STORE',
  'SYNC_COMPRESSION',
  'SYNC_TABLE',
  'SYNC_QUEUE_URL',
  'SYNC_DEAD_LETTER_URL',
  'SYNC_GLUE_DATABASE',
  'SYNC_EVENT_BUS',
  'SYNC_ALLOW',
  'SYNC_STACK',
  'SYNC_SNAPSHOT_FUNCTION',
  'SYNC_FOLLOWERS',
  'LOG_LEVEL',
] as const;

export type SettingName = (typeof settingNames)[number];

/** What every function that is deployed finds in its environment. */
export type CommonEnvironment = Readonly<
  Record<
    | 'PLATFORM_BASE_URL'
    | 'PLATFORM_TOKEN_SECRET'
    | 'PLATFORM_RATE'
    | 'PLATFORM_CONCURRENCY'
    | 'PLATFORM_WORKERS'
    | 'SYNC_STORE'
    | 'SYNC_COMPRESSION'
    | 'SYNC_TABLE'
    | 'SYNC_STACK'
    | 'LOG_LEVEL',
    string
  >
>;

/** That, and the settings of one function: a name that is no setting is an error. */
export type FunctionEnvironment = CommonEnvironment & Readonly<Partial<Record<SettingName, string>>>;

/** What is checked at synth as the functions check it: job types, requests of snapshots, their sources and places. */
export { jobTypes } from './jobs/types/job-types.ts';
export { gateNames } from './snapshot/gate-names.ts';
export { placeOf } from './snapshot/keys.ts';
/** The Glue tables over the published runs, one a source. */
export { gluePartitionKeys, glueTableOf } from './snapshot/publish/glue-tables.ts';
export { linkedSource, requestFields, requestRules } from './snapshot/sources/request.ts';
export type { Columns, HiveType, RecordKey } from './snapshot/sources/source-definition.ts';
export { type Source, sourceDefinitions, sources } from './snapshot/sources/sources.ts';

/** The shortest time that a function which runs jobs must be given is made of these, in milliseconds. */
export const jobTimes = {
  /** A code function may take this long. */
  codeFunctionMs: 330_000,
  /** What the last writes and the answer of an invocation may take. */
  toAnswerMs: 5_000,
} as const;

/** Where the metrics of all instances lie; each names its stack in the dimension `service`. */
export const metricNamespace = 'platform-sync';

/** What the functions measure, beside the metrics of AWS. Counts, but for `WaitedMs` and `EffectiveRate`. */
export const metricNames = [
  /** By the dimension `type` too, like the next two. */
  'JobsDone',
  'JobsFailed',
  'JobsUnknown',
  /** Messages and requests of the inbox that could not become jobs. */
  'MessagesRefused',
  'Requests',
  'Retries',
  'Throttled',
  /** Milliseconds that calls waited for their turn. */
  'WaitedMs',
  /** Requests that the platform answered with 401. */
  'Unauthorized',
  /** With 403, but for single cards and data files: those are named in the manifest. */
  'Forbidden',
  /** Times that a process fell back to the safe rate, since the table was away. */
  'SafeRate',
  'SentimentCalls',
  'SentimentTokens',
  /** Slots of the budget: reserved, left in by a call, and passed without one. */
  'SlotsGranted',
  'SlotsUsed',
  'SlotsWasted',
  /** Requests a second that may leave now, as a process last knew; below the configured rate after a 429. */
  'EffectiveRate',
  /** By the dimension `place` too, like the next. */
  'SnapshotsPublished',
  'SnapshotsRefused',
] as const;

export type MetricName = (typeof metricNames)[number];
