import type { ModelTable } from '../../model/rules/index.ts';
import { type ColumnUse, type HiveType, type Made, moment } from '../../snapshot/columns/index.ts';

export type ViewColumn = ColumnUse & { readonly type: HiveType; readonly about: string };

/**
 * As people see it, here and in Athena. `sql` is in Trino's SQL, over tables that begin with `stored_` and other views.
 */
export type View = {
  readonly name: string;
  /** What a row is, in one line. */
  readonly about: string;
  readonly columns: Readonly<Record<string, ViewColumn>>;
  readonly sql: string;
  /**
   * The same for DuckDB, without the model: a query that needs a value that only the model has fails with `NEEDS_MODEL`, so
   * that others need not wait until it is computed. Absent if all or nothing of it is of the model.
   */
  readonly withoutModel?: string;
};

const select = (columns: Readonly<Record<string, Made>>, from: string): string =>
  `SELECT ${Object.entries(columns)
    .map(([name, [, sql]]) => (sql === name ? name : `${sql} AS ${name}`))
    .join(', ')} ${from}`;

const described = (columns: Readonly<Record<string, Made>>): View['columns'] =>
  Object.fromEntries(
    Object.entries(columns).map(([name, [type, , about, use]]) => [name, { type, about, ...use }]),
  );

export const viewOf = (
  name: string,
  about: string,
  columns: Readonly<Record<string, Made>>,
  from: string,
): View => ({ name, about, columns: described(columns), sql: select(columns, from) });

/** The error of a query that needs the model contains this text. */
export const NEEDS_MODEL = 'this query needs the model';

/** A table of the latest model: in Athena, the one that it replaced may lie beside it. */
export const latestModel = (table: ModelTable): string =>
  `(SELECT * FROM stored_model_${table} WHERE as_of = (SELECT max(as_of) FROM stored_model_${table}))`;

/** The moment of epoch milliseconds, in UTC. */
export const epochMoment = (epochMs: string): string =>
  `CAST(from_unixtime_nanos(${epochMs} * 1000000) AT TIME ZONE 'UTC' AS timestamp)`;

/** When the runs of the model were the last ones. */
export const AS_OF: Made = moment(
  epochMoment('as_of'),
  'when the runs that the flags are of were the latest, in UTC',
);
