export { asText, type CellAt, type RowGroup } from './columns/read-columns.ts';
export { columnsOfRuns, groupsOf, type ModelColumns } from './columns/run-columns.ts';
export { computeModel, type Dataset, type Model, modelOf } from './compute/compute-model.ts';
export type { Owner } from './compute/owners.ts';
export { type BrokenFlag, brokenFlags, type Flag, flagBits, flagsOf, HELD } from './flags.ts';
export { adjacencyOf, reach } from './graph/closure.ts';
export type { UsesGraph } from './graph/uses-graph.ts';
export { type ModelTable, modelColumns } from './model-columns.ts';
export { type Described, type Description, describedRecords, describeNodes } from './stored/described.ts';
export { type LastRun, lastRuns } from './stored/last-runs.ts';
export {
  type CurrentModel,
  type ModelToOpen,
  type OpenedModel,
  openModel,
  renewModel,
} from './stored/open-model.ts';
export { findModel, isBehind, type StoredModel } from './stored/stored-model.ts';
export {
  createUsesMaker,
  isStating,
  makeUses,
  storedUses,
  USES_FORMAT,
  usesKey,
  usesOfPart,
} from './uses/part-uses.ts';
