import type { TableColumns } from '../parquet/fit-lines.ts';
import { storedTables } from '../stored-tables.ts';

/** The columns of results as Parquet: those of `jobs`, and what does not fit them. A value of type `json` is its JSON. */
export const resultColumns = {
  ...storedTables.jobs.columns,
  _other: 'string',
} as const satisfies TableColumns;

/** The columns of scored texts as Parquet, likewise. */
export const scoreColumns = {
  ...storedTables.scores.columns,
  _other: 'string',
} as const satisfies TableColumns;
