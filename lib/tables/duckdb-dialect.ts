/**
 * Functions of Trino that DuckDB lacks, as statements that define them, with Trino's results: a text that is no JSON,
 * and a value that is none of the simple ones, are null. A connection needs them once.
 */
export const duckDbMacros: readonly string[] = [
  'CREATE OR REPLACE MACRO json_parse(text) AS CAST(text AS JSON)',
  // DuckDB computes an expression once that stands in several columns, outside of TRY: only JSON reaches its functions.
  `CREATE OR REPLACE MACRO json_extract_scalar(text, path) AS TRY(
    CASE WHEN json_type(CASE WHEN json_valid(text) THEN text END, path) NOT IN ('OBJECT', 'ARRAY')
      THEN json_extract_string(CASE WHEN json_valid(text) THEN text END, path) END)`,
  'CREATE OR REPLACE MACRO array_join(list, separator) AS array_to_string(list, separator)',
  'CREATE OR REPLACE MACRO regexp_like(text, pattern) AS regexp_matches(text, pattern)',
  `CREATE OR REPLACE MACRO from_iso8601_timestamp(text) AS date_trunc('millisecond', CAST(text AS TIMESTAMPTZ))`,
  'CREATE OR REPLACE MACRO from_unixtime_nanos(nanoseconds) AS make_timestamptz(nanoseconds // 1000)',
];

/**
 * A query in the SQL of Trino, as DuckDB understands it. Only what saved queries use is translated: `UNNEST` in a join,
 * whose list has rows if it is given several names and plain values if it is given one, lambdas, `any_match` and
 * `transform`. Texts, quoted names and comments stay as they are.
 */
export function duckDbSql(sql: string): string {
  const apart: string[] = [];
  const bare = sql.replaceAll(NOT_CODE, (text) => `\u0000${apart.push(text) - 1}\u0000`);
  const translated = [unnested, anyMatched, renamed, withLambdas].reduce((text, step) => step(text), bare);
  return translated.replaceAll(HELD_APART, (_, index: string) => apart[Number(index)] ?? '');
}

const NOT_CODE = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: no query has this character.
const HELD_APART = /\u0000(\d+)\u0000/g;

/** `UNNEST` of rows gives their fields as columns in Trino, but one struct in DuckDB. */
const unnested = (sql: string): string =>
  withCalls(sql, 'JOIN UNNEST', (list, rest) => {
    const names = /^\s+AS \w+ \(([^)]*)\)/.exec(rest)?.[1];
    if (names === undefined)
      throw new TypeError('UNNEST: expected AS NAME (COLUMN, …) after it, got something else');
    return names.includes(',')
      ? `JOIN LATERAL (SELECT unnest(item) FROM (SELECT unnest(${list}) AS item))`
      : `JOIN LATERAL (SELECT unnest(${list}))`;
  });

/** Null for no list, as in Trino; an item of which nobody knows whether it matches counts as one that does not. */
const anyMatched = (sql: string): string =>
  withCalls(sql, 'any_match', (listAndTest) => `(len(list_filter(${listAndTest})) > 0)`);

const renamed = (sql: string): string =>
  sql.replaceAll(/\btransform\(/g, 'list_transform(').replaceAll(/\belement_at\(/g, 'list_extract(');

const withLambdas = (sql: string): string => sql.replaceAll(/\b(\w+) -> /g, 'lambda $1: ');

/** Replaces each call of a function; `replace` gets what is between its parentheses, and what follows. */
function withCalls(sql: string, name: string, replace: (within: string, rest: string) => string): string {
  let done = '';
  let left = sql;
  for (;;) {
    const at = left.search(new RegExp(`\\b${name}\\(`));
    if (at < 0) return done + left;
    const start = at + name.length + 1;
    const end = closingOf(left, start);
    const rest = left.slice(end + 1);
    done += left.slice(0, at) + replace(withCalls(left.slice(start, end), name, replace), rest);
    left = rest;
  }
}

/** Where the parenthesis is closed that is open at `start`. */
function closingOf(sql: string, start: number): number {
  let depth = 1;
  for (let at = start; at < sql.length; at += 1) {
    depth += sql[at] === '(' ? 1 : sql[at] === ')' ? -1 : 0;
    if (depth === 0) return at;
  }
  throw new TypeError('expected as many ) as (, got fewer');
}
