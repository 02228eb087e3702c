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
  'CREATE OR REPLACE MACRO cardinality(list) AS len(list)',
  'CREATE OR REPLACE MACRO element_at(list, place) AS list_extract(list, place)',
  'CREATE OR REPLACE MACRO regexp_like(text, pattern) AS regexp_matches(text, pattern)',
  `CREATE OR REPLACE MACRO from_iso8601_timestamp(text) AS date_trunc('millisecond', CAST(text AS TIMESTAMPTZ))`,
  'CREATE OR REPLACE MACRO from_unixtime_nanos(nanoseconds) AS make_timestamptz(nanoseconds // 1000)',
];

/**
 * A query in the SQL of Trino, as DuckDB understands it. Only what saved queries and views use is translated: `UNNEST` of
 * rows in a join, written `UNNEST(…) AS NAME (COLUMN, …)`, gives their fields as columns in Trino, but one struct in DuckDB.
 */
export const duckDbSql = (sql: string): string =>
  sql.replaceAll(
    /JOIN UNNEST\((.*?)\)(?=\s+AS \w+ \()/gs,
    'JOIN LATERAL (SELECT unnest(item) FROM (SELECT unnest($1) AS item))',
  );
