import { ISO_TIME, type ModelTable } from '../../model/rules/index.ts';
import type { HiveType } from '../../snapshot/sources/source-definition.ts';

/** What a query may make of a column beyond its type. */
export type ColumnUse = {
  /** An id of the platform, or a hash: it compares with numbers, and without regard to case. */
  readonly isId?: true;
  /** A value of a list, such as a status, in lower case: it compares without regard to case. */
  readonly isWord?: true;
  /** All that it can be, besides null: a query that compares it with anything else is told so. */
  readonly values?: readonly string[];
  /** The column that has the same time as a timestamp. */
  readonly moment?: string;
  /** Names that people guess: the error names the column. */
  readonly guesses?: readonly string[];
  /** The field that it is made of and that the platform sends in no list: the query says so if it is null in all rows. */
  readonly unsent?: string;
};

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

/** A column: its type, the expression of SQL that makes it, and a line of meaning. */
export type Made = readonly [type: HiveType, sql: string, about: string, use?: ColumnUse];

export const text = (sql: string, about: string, use: ColumnUse = {}): Made => ['string', sql, about, use];
export const number = (sql: string, about: string, use: ColumnUse = {}): Made => ['bigint', sql, about, use];
export const moment = (sql: string, about: string): Made => ['timestamp', sql, about];
export const id = (sql: string, about: string, guesses: readonly string[] = []): Made =>
  text(sql, about, { isId: true, guesses });

/** A value of a list, in the one spelling that it has everywhere, whatever the platform sends. */
export const word = (sql: string, about: string, use: ColumnUse = {}): Made =>
  text(`lower(${sql})`, about, { isWord: true, ...use });

/** A word that is one of these, which are also what is said of it; `more`: what else there is to say. */
export const oneOf = (
  sql: string,
  values: readonly string[],
  use: ColumnUse & { readonly more?: string } = {},
): Made => {
  const { more = '', ...rest } = use;
  return word(sql, `${alternatives(values)}${more}`, { values, ...rest });
};

/** `a, b or c`. */
export const alternatives = (values: readonly string[]): string =>
  [values.slice(0, -1).join(', '), ...values.slice(-1)].filter(Boolean).join(' or ');

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

/** In the error of a query that needs the model. */
export const NEEDS_MODEL = 'this query needs the model';

/** A table of the latest model: in Athena, the one that it replaced may lie beside it. */
export const latestModel = (table: ModelTable): string =>
  `(SELECT * FROM stored_model_${table} WHERE as_of = (SELECT max(as_of) FROM stored_model_${table}))`;

/** The moment of an ISO 8601 text, in UTC; null if it is none. */
export const momentOf = (text: string): string =>
  `CAST(CASE WHEN regexp_like(${text}, '${ISO_TIME}') THEN try(from_iso8601_timestamp(${text})) END AT TIME ZONE 'UTC' AS timestamp)`;

/** The moment of epoch milliseconds, in UTC. */
export const epochMoment = (epochMs: string): string =>
  `CAST(from_unixtime_nanos(${epochMs} * 1000000) AT TIME ZONE 'UTC' AS timestamp)`;

/** When the runs of the model were the last ones. */
export const AS_OF: Made = moment(
  epochMoment('as_of'),
  'when the runs that the flags are of were the latest, in UTC',
);
