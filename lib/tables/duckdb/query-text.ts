import { nearestName, shortened } from '../../base/index.ts';
import { savedQueries } from '../catalog/saved-queries.ts';

/** Why a query has no result. */
type QueryFailure =
  /** The SQL is wrong, or does not fit the types of the data. The message shows the position in the SQL. */
  | { readonly kind: 'sql' }
  | { readonly kind: 'too-long'; readonly seconds: number }
  | { readonly kind: 'too-large' }
  /** DuckDB failed: the data is damaged, or the disk is full. */
  | { readonly kind: 'other' };

/** Thrown if a query fails. After an abort, the signal's own reason is thrown instead. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly failure: QueryFailure;

  constructor(message: string, failure: QueryFailure, options?: { readonly cause: unknown }) {
    super(message, options);
    this.failure = failure;
  }
}

/** Matches errors of DuckDB that are not the fault of the SQL. */
const NOT_SQL_FAULT =
  /^(?:IO|INTERNAL|Internal|Fatal|FATAL|Connection|Serialization|Corrupt\w*|Dependency|Invalid Configuration) Error/;
/** Matches errors of DuckDB about Parquet files whose pages or footer are damaged. */
const DAMAGED = /TProtocol|thrift|zstd|magic bytes/i;
const REMEDY =
  '\nA Parquet file in the store is damaged: delete it in the folder parquet/ or model/, and it is built again.';
const TOO_LARGE = /^Out of Memory Error|max_temp_directory_size/;

/**
 * Converts an error of DuckDB to a `QueryError`. `linesBefore`: the number of lines that were put before the query.
 * They are subtracted from the line numbers in the message.
 */
export function queryErrorOf(cause: unknown, linesBefore = 0): QueryError {
  const message = (cause instanceof Error ? cause.message : String(cause))
    .replace(/^Failed to extract statements: /, '')
    .replaceAll(/^LINE (\d+):/gm, (_, line: string) => `LINE ${Math.max(1, Number(line) - linesBefore)}:`);
  if (TOO_LARGE.test(message)) return new QueryError(message, { kind: 'too-large' }, { cause });
  if (DAMAGED.test(message)) return new QueryError(`${message}${REMEDY}`, { kind: 'other' }, { cause });
  return new QueryError(message, { kind: NOT_SQL_FAULT.test(message) ? 'other' : 'sql' }, { cause });
}

/**
 * Matches a comment, a quoted string or name, a `$tag$` string, any of these without its end (`open`), a
 * semicolon, or a whole word.
 */
const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?\1|(?<open>(?:\/\*|[eE]?'|"|\$(?:[A-Za-z_]\w*)?\$)[\s\S]*)|;|[\p{L}_][\p{L}\p{N}_$]*|\s+|[\s\S]/gu;

/** Splits SQL at the semicolons that end statements, in the same way as DuckDB. */
export function splitStatements(text: string): {
  /** The statements that end in a semicolon, without it. Statements of only space and comments are left out. */
  readonly ended: readonly string[];
  /** What follows the last semicolon: the beginning of a statement, or only space and comments. */
  readonly rest: string;
  /** Whether `rest` contains more than space and comments. */
  readonly hasRest: boolean;
  /** Whether `rest` ends inside quotes or a comment, where a semicolon does not end the statement. */
  readonly isOpen: boolean;
} {
  const ended: string[] = [];
  let from = 0;
  let hasCode = false;
  let isOpen = false;
  for (const { 0: token, index, groups } of text.matchAll(TOKEN)) {
    isOpen = groups?.['open'] !== undefined;
    if (token === ';') {
      if (hasCode) ended.push(text.slice(from, index).trim());
      from = index + 1;
      hasCode = false;
    } else if (!/^(?:--|\/\*|\s)/.test(token)) hasCode = true;
  }
  return { ended, rest: text.slice(from).trimStart(), hasRest: hasCode, isOpen };
}

/** Matches the words with which a query may begin, after comments and parentheses. */
const BEGINS =
  /^(?:\s|\(|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*(?:select|with|from|values|table|describe|desc|summarize|show|pivot|unpivot)\b/i;

/**
 * The single statement in an SQL text, without its final semicolon. Throws `QueryError` unless it begins like a
 * statement that only reads. If it begins so but writes, it is not a query in DuckDB's grammar, so planning it fails.
 */
export function onlyQuery(text: string): string {
  const failed = (message: string) => new QueryError(message, { kind: 'sql' });
  // DuckDB would stop reading at this character.
  if (text.includes('\0')) throw failed('expected SQL without the character U+0000, got one');
  const { ended, rest, hasRest } = splitStatements(text);
  const all = [...ended, ...(hasRest ? [rest.trimEnd()] : [])];
  const [first] = all;
  if (first === undefined) throw failed('expected a query, got none');
  if (all.length > 1) throw failed(`expected one query, got ${all.length} statements`);
  if (BEGINS.test(first)) return first;
  const got = /\w{1,40}/.exec(first)?.[0].toUpperCase() ?? 'another statement';
  throw failed(`expected a query that only reads (SELECT …), got ${got}`);
}

/**
 * SQL statements that define functions of Trino that DuckDB lacks, with Trino's results: `json_extract_scalar` is null
 * for a string that is not JSON, and for an object or a list. Each connection runs them once.
 */
export const duckDbMacros: readonly string[] = [
  'CREATE OR REPLACE MACRO json_parse(text) AS CAST(text AS JSON)',
  // If several columns share an expression, DuckDB may compute it once, outside of TRY. So only valid JSON may reach
  // its functions.
  `CREATE OR REPLACE MACRO json_extract_scalar(text, path) AS TRY(
    CASE WHEN json_type(CASE WHEN json_valid(text) THEN text END, path) NOT IN ('OBJECT', 'ARRAY')
      THEN json_extract_string(CASE WHEN json_valid(text) THEN text END, path) END)`,
  'CREATE OR REPLACE MACRO array_join(list, separator) AS array_to_string(list, separator)',
  'CREATE OR REPLACE MACRO cardinality(list) AS len(list)',
  'CREATE OR REPLACE MACRO element_at(list, place) AS list_extract(list, place)',
  'CREATE OR REPLACE MACRO regexp_like(text, pattern) AS regexp_matches(text, pattern)',
  `CREATE OR REPLACE MACRO from_iso8601_timestamp(text) AS date_trunc('millisecond', CAST(text AS TIMESTAMPTZ))`,
  'CREATE OR REPLACE MACRO from_unixtime_nanos(nanoseconds) AS make_timestamptz(nanoseconds // 1000)',
];

/**
 * Translates a query from Trino's SQL to DuckDB's, as far as saved queries and views need it. In a join, `UNNEST(…) AS
 * NAME (COLUMN, …)` of rows has a column for each field in Trino, but a single struct in DuckDB.
 */
export const duckDbSql = (sql: string): string =>
  sql
    .replaceAll('array(varchar)', 'VARCHAR[]')
    .replaceAll(
      /JOIN UNNEST\((.*?)\)(?=\s+AS \w+ \()/gs,
      'JOIN LATERAL (SELECT unnest(item) FROM (SELECT unnest($1) AS item))',
    );

/** Maximum characters of a name in a message. A longer name is shortened. */
const MAX_NAME_LENGTH = 100;

/** The SQL of a saved query for DuckDB. Throws `QueryError` if there is no query with this name. */
export function savedSql(name: string): string {
  const all = savedQueries();
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return duckDbSql(found.sql);
  const names = all.map((each) => each.name);
  const meant = nearestName(name, names);
  const hint = meant === undefined ? `there are ${names.join(', ')}` : `did you mean ${meant}?`;
  const got = JSON.stringify(shortened(name, MAX_NAME_LENGTH));
  throw new QueryError(`expected the name of a saved query, got ${got}; ${hint}`, { kind: 'sql' });
}
