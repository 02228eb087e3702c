/*
 * The model: what uses what, and what is broken, missing or unused, in the last published runs. It is computed once for
 * these runs, and stored; all readers query it. The rules about single records are in `rules/`.
 */

export { computeModel, type Model, modelOf } from './compute-model.ts';
export {
  type Described,
  type Description,
  describedFormulas,
  describedNodes,
  describedRecords,
  describeNodes,
  firstRecords,
} from './described.ts';
export type { DatedModel } from './history.ts';
export { type ModelTable, modelColumns, modelTableNames, modelTables } from './model-tables.ts';
export { type CurrentModel, openModel, renewModel } from './open-model.ts';
export { createUsesBuilder, hasLinks, USES_FORMAT, usesKey, usesOfPart } from './part-uses.ts';
export { columnsOfRuns, groupsOf, type LastRun, lastRuns, type ModelColumns } from './runs.ts';
export type { UsesGraph } from './uses-graph.ts';
