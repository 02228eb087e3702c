export type { ColumnsFile, ModelColumns, PartColumns, SourceColumns } from './compute/columns-of.ts';
export { computeModel, type DatasetCounts, type Model, readUses } from './compute/compute-model.ts';
export type { Owner } from './compute/owners.ts';
export { type Flag, flagBits, HELD } from './flags.ts';
export { adjacencyOf, type Reach, reach } from './graph/closure.ts';
export { createThings, type Things } from './graph/things.ts';
export type { UsesGraph } from './graph/uses-graph.ts';
export { createUsesMaker, makeUses, useColumns } from './uses/make-uses.ts';
