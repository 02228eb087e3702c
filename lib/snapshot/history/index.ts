/* What was published: places, runs and their manifests, the records of a run, and what changed between two of them. */

export { changesBetween } from '../changes/changes-between.ts';
export { describeChanges } from '../changes/describe-changes.ts';
export { recordKey } from '../changes/line-key.ts';
export { createRecordFields, memberTexts } from '../changes/line-members.ts';
export { eachLine, type LineReader, NO_RECORD } from '../changes/line-reader.ts';
export type { PartToRead } from '../changes/part-chunks.ts';
export { type PublishedRun, publishedRuns } from '../changes/published-runs.ts';
export { findRecords } from '../changes/run-keys.ts';
export { type Change, collectChanges, fieldsOf, printChange } from '../changes/side-by-side.ts';
export { storedChanges } from '../changes/stored-changes.ts';
export { type Manifest, manifestOf, type Part, readLatest } from '../manifest.ts';
export { type ExpectedSnapshot, expectedSnapshots, missingSnapshots } from '../missing-snapshots.ts';
export { newlyMissing } from '../publish/known-missing.ts';
export { degradedWords, refusalWords, refusedAs } from '../publish/refusal-words.ts';
export { forgetTagged, tagAsItIs } from '../publish/tag-runs.ts';
export { readAgain } from '../read-again.ts';
export { findRuns, type ListedRun } from './list-runs.ts';
export { placesIn } from './places.ts';
export { newestRefused } from './unpublished-runs.ts';
