/*
 * What can be snapshotted: the sources as values, their requests, and where their runs are stored. Every
 * command loads this, so it does not load the code that takes or reads a run.
 */

export {
  type Compression,
  isRunId,
  latestParquetFolder,
  type Place,
  parquetFolder,
  parsePlace,
  placeOf,
  placeSchema,
  publishedFolder,
  REPLACED,
  RUN_TAG,
  type Run,
  runOfId,
  sourceOf,
  splitPlace,
} from '../keys.ts';
export { gatesSchema, readGates } from '../publish/gates.ts';
export { SnapshotStoppedError } from '../run/snapshot-stopped-error.ts';
export type { SnapshotProgress } from '../run/take-run.ts';
export { consistencies } from '../scan.ts';
export {
  commonFields,
  linkedSource,
  linkedTo,
  narrowings,
  placeName,
  placeOfRequest,
  requestFields,
  requestRules,
  requestSchemasWith,
  type SnapshotRequest,
} from './request.ts';
export type { Columns } from './source-definition.ts';
export { isSource, type Source, sourceDefinitions, sources } from './sources.ts';
