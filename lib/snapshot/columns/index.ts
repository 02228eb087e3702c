/* The words in which the definition of a source says what columns its records have in SQL, here and in Athena. */

/** A type in Hive's notation; the field names of a struct are spelled as on the platform. */
export type HiveType = string;

/** What a query may make of a column beyond its type. */
export type ColumnUse = {
  /** An id of the platform, or a hash: it compares with numbers, and without regard to case. */
  readonly isId?: true;
  /** A value of a list, such as a status, in lower case: it compares without regard to case. */
  readonly isWord?: true;
  /** All its possible values besides null: a query that compares it with another value gets an error that lists them. */
  readonly values?: readonly string[];
  /** The column that has the same time as a timestamp. */
  readonly moment?: string;
  /** Names that people guess: the error names the column. */
  readonly guesses?: readonly string[];
  /** The field that it is made of and that the platform sends in no list: the query says so if it is null in all rows. */
  readonly unsent?: string;
};

/** A column: its type, the expression of SQL that makes it, and a line of meaning. */
export type Made = readonly [type: HiveType, sql: string, about: string, use?: ColumnUse];

/** A column of text; `sql` makes it, `about` is its line of meaning. */
export const text = (sql: string, about: string, use: ColumnUse = {}): Made => ['string', sql, about, use];
/** A column of whole numbers. */
export const number = (sql: string, about: string, use: ColumnUse = {}): Made => ['bigint', sql, about, use];
/** A column of timestamps. */
export const moment = (sql: string, about: string): Made => ['timestamp', sql, about];
/** A column of ids, which compare with numbers and without regard to case. */
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

/** Engines differ in what else they take for a time: in Trino `0` is a year. */
export const ISO_TIME = String.raw`^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$`;

/** The moment of an ISO 8601 text, in UTC; null for any other text. */
export const momentOf = (text: string): string =>
  `CAST(CASE WHEN regexp_like(${text}, '${ISO_TIME}') THEN try(from_iso8601_timestamp(${text})) END AT TIME ZONE 'UTC' AS timestamp)`;

/** A line on a field of the platform, and what a query may make of it. */
export type FieldLine = string | readonly [about: string, use: ColumnUse];

/** What the tables of a source have in SQL: columns under the names that people guess, and a line on each field of the platform. */
export type RecordView<Field extends string = string> = {
  /** What a row is, after `a `: `card of a dataset`. */
  readonly row: string;
  /** The field that says who owns it. */
  readonly owner: Lowercase<Field>;
  readonly made: Readonly<Record<string, Made>>;
  readonly fields: Readonly<Record<Field, FieldLine>>;
};

export const CANONICAL_ID = 'coalesce(thing_id, id)';

export const ownerName = (given = 'name_of_owner'): Made =>
  text(given, 'the name of the owner, if a card gives it', {
    guesses: ['owner_display_name', 'displayname'],
  });

export const isId = { isId: true } as const;
/** As the platform sent it, where another column has it in lower case. */
export const isWord = { isWord: true } as const;
export const sent = (of: string): FieldLine => [`${of} as the platform sent it`, isWord];
/** A field with epoch milliseconds, or text; `column` has the same time as a timestamp. */
export const timeOf = (column: string, about: string): FieldLine => [about, { moment: column }];
export const unsent = (about: string, field: string, use: ColumnUse = {}): FieldLine => [
  `${about}; a search does not return it, so it is null in snapshots`,
  { unsent: field, ...use },
];
