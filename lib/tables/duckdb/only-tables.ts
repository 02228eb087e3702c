import type { DuckDBConnection } from '@duckdb/node-api';
import { parseJson } from '../../base/index.ts';
import { literal } from './database.ts';
import { macros } from './macros.ts';
import { QueryError } from './query-error.ts';

/** Functions that make rows of their arguments alone, and the tables with parameters. */
const ROWS = new Set([
  ...['range', 'generate_series', 'unnest', 'repeat', 'repeat_row', 'json_each', 'json_tree'],
  ...macros.map(({ name }) => name),
]);

/** What says how DuckDB is set, or what is around it. */
const SETTINGS = /^(?:current_setting|getenv|duckdb_.*|pragma_.*)$/i;
const CATALOG = /^(?:duckdb|pg|pragma|sqlite)_/i;

/**
 * Refuses a query that reads anything but the tables, by its functions and names as DuckDB's own parser has them. One
 * that the parser does not take is left to the planner. Throws `QueryError`.
 */
export async function onlyTables(connection: DuckDBConnection, sql: string): Promise<void> {
  const parsed = await connection.runAndReadAll(`SELECT json_serialize_sql(${literal(`FROM (\n${sql}\n)`)})`);
  const tree = parseJson(String(parsed.getRowsJson()[0]?.[0])) as { readonly error_type?: string };
  if (tree.error_type === 'not implemented')
    throw refused('PIVOT without the values of ON: name them, as in PIVOT … ON status IN (…)');
  const nodes: unknown[] = [tree];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    const { type, function_name: called, function: made, table_name: table } = node as Names;
    if (type === 'TABLE_FUNCTION' && !ROWS.has(made?.function_name?.toLowerCase() ?? ''))
      throw refused(made?.function_name);
    if (type === 'FUNCTION' && called !== undefined && SETTINGS.test(called)) throw refused(called);
    if (type === 'BASE_TABLE' && table !== undefined && CATALOG.test(table)) throw refused(table);
    nodes.push(...Object.values(node));
  }
}

type Names = {
  readonly type?: string;
  readonly function_name?: string;
  readonly function?: { readonly function_name?: string };
  readonly table_name?: string;
};

const refused = (got = 'another function') =>
  new QueryError(`expected a query of the tables alone, got ${got}`, { kind: 'sql' });
