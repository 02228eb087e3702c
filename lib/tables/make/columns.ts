import type { TableColumns } from '../parquet/fit-lines.ts';
import { storedTables } from '../stored-tables.ts';

/** The columns of a table as Parquet: its own, and what does not fit them. A value of type `json` is its JSON. */
export const withOther = <Columns extends TableColumns>(columns: Columns) =>
  ({ ...columns, _other: 'string' }) as const;

export const resultColumns = withOther(storedTables.jobs.columns);
export const scoreColumns = withOther(storedTables.scores.columns);
export const changesColumns = withOther(storedTables.changes.columns);
export const refusedColumns = withOther(storedTables.refused.columns);
export const formulaColumns = withOther(storedTables.formulas.columns);
