/*
 * What was published: the places and their runs, the records of a run, and the changes between two runs.
 * Listing and comparing load their code at the first call.
 */

export {
  type Manifest,
  manifestOf,
  type Part,
  type PublishedRun,
  placesIn,
  publishedRuns,
  readAgain,
  readLatest,
} from '../manifest.ts';
export type { ListedRun } from './runs.ts';

/** Lists the runs of places: see `findRuns` in `runs.ts`. */
export const findRuns = async (...args: Parameters<typeof import('./runs.ts').findRuns>) =>
  (await import('./runs.ts')).findRuns(...args);

/** Explains why the newest run of a place was refused: see `newestRefused` in `runs.ts`. */
export const newestRefused = async (...args: Parameters<typeof import('./runs.ts').newestRefused>) =>
  (await import('./runs.ts')).newestRefused(...args);

export { type ExpectedSnapshot, expectedSnapshots, missingSnapshots } from '../missing-snapshots.ts';
export { degradedWords, newlyMissing, refusalWords, refusedAs } from '../publish/gates.ts';
export { deleteTaggedMark, updateRunTags } from '../publish/publish-parts.ts';

/** Finds what changed between two published runs: see `changesBetween` in `changes-between.ts`. */
export const changesBetween = async (
  ...args: Parameters<typeof import('../changes/changes-between.ts').changesBetween>
) => (await import('../changes/changes-between.ts')).changesBetween(...args);

export {
  type Change,
  collectChanges,
  describeChanges,
  fieldsOf,
  printChange,
  storedChanges,
} from '../changes/change.ts';

export { createRecordFields, findRecords, memberJson, recordKey } from '../changes/line-members.ts';
export { eachLine, type LineReader, NOT_A_RECORD, type PartToRead } from '../changes/line-reader.ts';
