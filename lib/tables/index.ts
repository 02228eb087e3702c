/*
 * Tables of everything that is stored: built as Parquet after a run is published, and queried with SQL. `catalog/` has
 * their names and columns. DuckDB, Glue and the code that builds tables are loaded when they are first used.
 */
import type { TableOutcome, TablesToBuild } from './build/build-tables.ts';
import type { Tables } from './duckdb/open-tables.ts';

/** Opens SQL over a store. Dispose of the result. Throws `PeerMissingError` if DuckDB is not installed. */
export const openTables = async (
  ...args: Parameters<typeof import('./duckdb/open-tables.ts').openTables>
): Promise<Tables> => (await import('./duckdb/open-tables.ts')).openTables(...args);

export type { ExactValue } from './duckdb/exact-value.ts';
export type { QueryResult } from './duckdb/open-query.ts';
export type { FirstRows, TableInfo, Tables } from './duckdb/open-tables.ts';
export { QueryError, savedSql, splitStatements } from './duckdb/query-text.ts';

/** Builds the tables that published runs lack, and yields what happened to each run. */
export async function* buildTables(options: TablesToBuild): AsyncGenerator<TableOutcome> {
  yield* (await import('./build/build-tables.ts')).buildTables(options);
}

/** Builds tables within one invocation of the function write-tables, until its time is over. Returns what to log. */
export const writeTables = async (
  ...args: Parameters<typeof import('./build/build-tables.ts').writeTables>
) => (await import('./build/build-tables.ts')).writeTables(...args);

/** Runs a rule, and compares its rows with the last check's. Throws `StoreError`. */
export const checkRule = async (...args: Parameters<typeof import('./checks/check-rule.ts').checkRule>) =>
  (await import('./checks/check-rule.ts')).checkRule(...args);

export type { TableOutcome, TablesToBuild } from './build/build-tables.ts';
export type { CheckedRule } from './checks/check-rule.ts';
export { checkGlueTable, openPartitions } from './partitions/partitions.ts';
