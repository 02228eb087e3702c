import { calculations } from './calculations/definition.ts';
import { cards } from './cards/definition.ts';
import { dataFiles } from './data-files/definition.ts';
import { files } from './files/definition.ts';
import type { SourceDefinition } from './source-definition.ts';

/** All sources that can be snapshotted, in the order in which they are listed and taken. */
export const sourceDefinitions = {
  [calculations.name]: calculations,
  [files.name]: files,
  [cards.name]: cards,
  [dataFiles.name]: dataFiles,
} as const satisfies Readonly<Record<string, SourceDefinition>>;

/** The name of a source. */
export type Source = keyof typeof sourceDefinitions;

/** The names of all sources, in the same order. */
export const sources = Object.keys(sourceDefinitions) as [Source, ...Source[]];

export const isSource = (value: unknown): value is Source => sources.some((source) => source === value);
