/*
 * The types with which tables are defined: their columns as they are stored, and as SQL shows them in DuckDB and
 * Athena.
 */

/** A type in Hive's notation; the field names of a struct are spelled as on the platform. */
export type HiveType = string;

/** How a query may use a column, beyond its type. */
type ColumnUse = {
  /** Whether the column has ids or hashes, which can be compared with numbers and regardless of case. */
  readonly isId?: true;
  /**
   * Whether the column has words in lower case from a fixed list, such as a status, which are compared regardless
   * of case.
   */
  readonly isWord?: true;
  /**
   * All values of the column besides null. A query that compares it with another value gets an error that lists
   * them.
   */
  readonly values?: readonly string[];
  /** The name of the timestamp column that has the same time. */
  readonly moment?: string;
  /** Other names that users may try for the column. An error about such a name suggests the column. */
  readonly guesses?: readonly string[];
  /** Whether the platform never sends this field in a list. A query reports that if the column is null in all rows. */
  readonly isUnsent?: true;
};

/**
 * A column: its type, the SQL expression that computes it, and a line about its meaning. Default of `sql`: its name.
 */
export type Column = ColumnUse & { readonly type: HiveType; readonly about: string; readonly sql?: string };

/**
 * A column that is also stored under its name, with the type `stored`. If `about` is empty, SQL does not show the
 * column.
 */
export type StoredColumn<Type extends HiveType = HiveType> = Column & { readonly stored: Type };

/** The columns of a table, in the order in which SQL shows them; SQL has the names in lower case. */
export type TableColumns = Readonly<Record<string, Column | StoredColumn>>;

/** The definition of a table, from which its files, its SQL, hints and the page of columns are built. */
export type TableDefinition<Columns extends TableColumns = TableColumns> = {
  /** What a row is: `a job that has ended`. */
  readonly about: string;
  readonly columns: Columns;
  /** The `FROM` clause that reads the rows. Default: the rows that are stored under the table's name. */
  readonly from?: string;
  /** Other names that users may try for the table. */
  readonly guesses?: readonly string[];
};

/** The names of the columns that are stored. */
export type StoredName<Columns> = {
  [Name in keyof Columns]: Columns[Name] extends StoredColumn ? Name : never;
}[keyof Columns] &
  string;

/** The types of stored columns, by their names. */
export type StoredTypes<Columns> = {
  readonly [Name in StoredName<Columns>]: Columns[Name] extends StoredColumn<infer Type> ? Type : never;
};

/** The columns of a table that are stored, in their order, with their types. */
export const storedTypes = <const Columns extends TableColumns>(columns: Columns) =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, column]) => ('stored' in column ? [[name, column.stored]] : [])),
  ) as StoredTypes<Columns>;

/** The columns of a table in its files: its own columns, and `_other` with everything else as JSON. */
export const withOther = <C extends Readonly<Record<string, HiveType>>>(columns: C) =>
  ({ ...columns, _other: 'string' }) as const;

/** A column that is stored. `shown`: its meaning, or the column that SQL shows. Default: SQL does not show it. */
export function stored<const Type extends HiveType>(
  type: Type,
  shown: string | Column = '',
  use: ColumnUse = {},
): StoredColumn<Type> {
  const plain = { type: type === 'json' ? 'string' : type, about: shown };
  return { ...(typeof shown === 'string' ? { ...plain, about: shown } : shown), ...use, stored: type };
}

/** Returns a maker of columns of a type. `sql` computes the column; `about` says in a line what it means. */
const columnMaker =
  (type: HiveType) =>
  (sql: string, about: string, use: ColumnUse = {}): Column => ({ type, sql, about, ...use });

/** Creates a column of strings. */
export const text = columnMaker('string');
/** Creates a column of whole numbers. */
export const number = columnMaker('bigint');
/** Creates a column of times. */
export const moment = columnMaker('timestamp');

/** A column of ids, which can be compared with numbers and regardless of case. */
export const id = (sql: string, about: string, guesses: readonly string[] = []): Column =>
  text(sql, about, { isId: true, guesses });

/** A column with a value of a fixed list, such as a status, always in lower case. */
export const word = (sql: string, about: string, use: ColumnUse = {}): Column =>
  text(`lower(${sql})`, about, { isWord: true, ...use });

type OneOfUse = ColumnUse & { readonly more?: string };

/** A column whose values are listed in its `about`. `more`: the rest of `about`. */
const oneOf = (sql: string, values: readonly string[], use: OneOfUse = {}): Column => {
  const { more = '', ...rest } = use;
  return word(sql, `${alternatives(values)}${more}`, { values, ...rest });
};

/** Joins words as alternatives: `a, b or c`. */
export const alternatives = (values: readonly string[]): string =>
  [values.slice(0, -1).join(', '), ...values.slice(-1)].filter(Boolean).join(' or ');

/** Matches a time in ISO 8601. Engines differ in which other strings they read as a time: in Trino, `0` is a year. */
export const ISO_TIME = String.raw`^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$`;

/** SQL for an ISO 8601 string as a timestamp in UTC; null for any other string. */
export const momentOf = (text: string): string =>
  `CAST(CASE WHEN regexp_like(${text}, '${ISO_TIME}') THEN try(from_iso8601_timestamp(${text})) END AT TIME ZONE 'UTC' AS timestamp)`;

/** SQL for epoch milliseconds as a timestamp in UTC. */
export const epochMoment = (epochMs: string): string =>
  `CAST(from_unixtime_nanos(${epochMs} * 1000000) AT TIME ZONE 'UTC' AS timestamp)`;

/** SQL for the id in the form in which the model compares ids. */
export const CANONICAL_ID = 'coalesce(thing_id, id)';

/** The column with the name of the owner. `given`: the SQL that computes it. */
export const ownerName = (given = 'name_of_owner'): Column =>
  text(given, 'the name of the owner, if a card gives it', {
    guesses: ['owners', 'owner_display_name', 'displayname'],
  });

/** A stored column of words. `about`: its meaning, or a list of all its values. */
export const storedWord = (name: string, about: string | readonly string[], use: OneOfUse = {}) =>
  stored('string', typeof about === 'string' ? word(name, about, use) : oneOf(name, about, use));

/** The use of a column of ids. */
export const isId = { isId: true } as const;
/** A stored column of ids, such as the ids of owners. */
export const storedId = (about: string, ...guesses: readonly string[]) =>
  stored('string', about, { isId: true, guesses });
/** The use of a column of words. */
export const isWord = { isWord: true } as const;
/** A stored column with words as the platform sent them. `of`: what they are, such as `the status`. */
export const sent = (of: string) => stored('string', `${of} as the platform sent it`, isWord);
/** A stored column for a field that the platform never sends in a list. */
export const unsent = <const Type extends HiveType>(type: Type, about: string, use: ColumnUse = {}) =>
  stored(type, `${about}; a search does not return it, so it is null in snapshots`, {
    isUnsent: true,
    ...use,
  });
