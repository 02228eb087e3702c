export { asText, type RowGroup } from './columns/read-columns.ts';
export type { Owner } from './compute/compute-model.ts';
export { computeModel, type Dataset, type Model, modelOf } from './compute/compute-model.ts';
export { type BrokenFlag, brokenFlags, type Flag, flagBits, flagsOf, HELD } from './flags.ts';
export { adjacencyOf, reach } from './graph/closure.ts';
export type { UsesGraph } from './graph/uses-graph.ts';
export { type ModelTable, modelColumns } from './model-columns.ts';
export {
  type Described,
  type Description,
  describedRecords,
  describeNodes,
  heldRows,
} from './stored/described.ts';
export {
  type CurrentModel,
  findModel,
  isBehind,
  type ModelToOpen,
  openModel,
  renewModel,
  type StoredModel,
} from './stored/open-model.ts';
export { columnsOfRuns, groupsOf, type LastRun, lastRuns, type ModelColumns } from './stored/runs.ts';
export {
  createUsesMaker,
  isStating,
  makeUses,
  storedUses,
  USES_FORMAT,
  usesKey,
  usesOfPart,
} from './uses/part-uses.ts';
