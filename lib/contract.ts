import type { SettingName } from './setting-names.ts';

/*
 * What infra may know of lib, and all that it may import: names, tables and times, each re-exported from where it is used. In
 * lib nothing imports this file but the command line, so that no circle of files closes through it.
 */

export { jobTimes } from './jobs/job-times.ts';
/** What is checked at synth as the functions check it: job types, and the requests of snapshots. */
export { jobTypes } from './jobs/types/job-types.ts';
export { type MetricName, metricNames, metricNamespace } from './metric-names.ts';
export { type SettingName, settingNames } from './setting-names.ts';
export { placeOf } from './snapshot/keys.ts';
export { gluePartitionKeys, glueTableOf } from './snapshot/publish/glue-tables.ts';
export { linkedSource, requestFields, requestRules } from './snapshot/sources/request.ts';
export type { HiveType } from './snapshot/sources/source-definition.ts';
export { type Source, sourceDefinitions, sources } from './snapshot/sources/sources.ts';

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
