import { type EndpointName, endpoints } from './platform/operations/index.ts';
import type { SettingName } from './settings.ts';

/*
 * Everything that infra may import from lib: names, tables, times, and the schemas by which synth checks the
 * configuration in the same way as the functions do. In lib, only the command line imports this file, so that it is not
 * part of an import cycle.
 */

export {
  METRIC_NAMESPACE,
  type MeasureName,
  measureNames,
  type ProblemName,
  problemNames,
  resources,
} from './base/aws/index.ts';
export {
  type Allow,
  allowFault,
  type Job,
  type JobType,
  jobTimes,
  jobTypes,
  valueFaults,
} from './jobs/types/index.ts';
export { type ModelTable, modelColumns } from './model/index.ts';
export { pricesSchema } from './prices.ts';
export { REPORT_PAGE_KEY } from './report/index.ts';
export { platformLink, type SettingName, settingNames, tokenHeader } from './settings.ts';
export type { ExpectedSnapshot } from './snapshot/history/index.ts';
export {
  type Columns,
  gatesSchema,
  latestParquetFolder,
  linkedSource,
  narrowings,
  type Place,
  placeOf,
  REPLACED,
  RUN_TAG,
  requestFields,
  requestRules,
  type Source,
  sourceDefinitions,
  sources,
  splitPlace,
} from './snapshot/sources/index.ts';
export {
  gluePartitionKeys,
  glueTableOf,
  glueViews,
  otherGlueTableOf,
  type StoredTableName,
  savedQueries,
  storedTables,
  tableNameAmong,
} from './tables/catalog/index.ts';

/** The names of the platform's operations. */
export const endpointNames = Object.keys(endpoints) as readonly EndpointName[];

/** The variables that every deployed function has. */
export type CommonEnvironment = Readonly<
  Record<
    | 'PLATFORM_BASE_URL'
    | 'PLATFORM_TOKEN_SECRET'
    | 'PLATFORM_RATE'
    | 'PLATFORM_CONCURRENCY'
    | 'SYNC_STORE'
    | 'SYNC_COMPRESSION'
    | 'SYNC_TABLE'
    | 'SYNC_STACK'
    | 'LOG_LEVEL',
    string
  >
>;

/** The common environment plus the settings of one function: a name that is not a setting is an error. */
export type FunctionEnvironment = CommonEnvironment & Readonly<Partial<Record<SettingName, string>>>;
