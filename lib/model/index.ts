export { createNumberedTexts } from './columns/numbered-texts.ts';
export { asText, type RowGroup } from './columns/read-columns.ts';
export { groupsOf, type ModelColumns, type SourceColumns } from './compute/columns-of.ts';
export { computeModel, type Model, readUses } from './compute/compute-model.ts';
export { peopleOf } from './compute/read-records.ts';
export { type Flag, flagBits, HELD } from './flags.ts';
export { adjacencyOf, reach } from './graph/closure.ts';
export { createThings, type Things } from './graph/things.ts';
export type { UsesGraph } from './graph/uses-graph.ts';
export { type ModelTable, modelColumns } from './model-columns.ts';
export { columnsOfRuns } from './stored/columns-of-runs.ts';
export {
  type Described,
  type Description,
  describedRecords,
  type RecordsToDescribe,
} from './stored/described.ts';
export { type LastRun, lastRuns } from './stored/last-runs.ts';
export { type ModelRow, modelRows } from './stored/model-rows.ts';
export { type OpenedModel, openModel } from './stored/open-model.ts';
export { isStating, type RunsToRead, usesOfRuns } from './stored/read-runs.ts';
export { type CurrentModel, currentModel, type ModelToRenew, renewModel } from './stored/renew-model.ts';
export { findModel, isBehind, type StoredModel } from './stored/stored-model.ts';
export { storedParquet, storeUses, USES_FORMAT, usesKey } from './stored/uses-of-part.ts';
export { createUsesMaker, makeUses } from './uses/make-uses.ts';
