import { macros } from './macros.ts';
import { QueryError } from './query-error.ts';
import type { QueryTree } from './query-tree.ts';

/** Functions that make rows of their arguments alone, and the tables with parameters. */
const ROWS = new Set([
  ...['range', 'generate_series', 'unnest', 'repeat', 'repeat_row', 'json_each', 'json_tree'],
  ...macros.map(({ name }) => name),
]);

/** What says how DuckDB is set, or what is around it. */
const SETTINGS = /^(?:current_setting|getenv|duckdb_.*|pragma_.*)$/i;
const CATALOG = /^(?:duckdb|pg|pragma|sqlite)_/i;

/**
 * Refuses a query that reads anything but the tables, by its functions and names. One that the parser does not take is left
 * to the planner. Throws `QueryError`.
 */
export function onlyTables({ nodes, fault }: QueryTree): void {
  if (fault === 'not implemented')
    throw refused('PIVOT without the values of ON: name them, as in PIVOT … ON status IN (…)');
  for (const { type, function_name: called, function: made, table_name: table } of nodes) {
    if (type === 'TABLE_FUNCTION' && !ROWS.has(made?.function_name?.toLowerCase() ?? ''))
      throw refused(made?.function_name);
    if (type === 'FUNCTION' && called !== undefined && SETTINGS.test(called)) throw refused(called);
    if (type === 'BASE_TABLE' && table !== undefined && CATALOG.test(table)) throw refused(table);
  }
}

const refused = (got = 'another function') =>
  new QueryError(`expected a query of the tables alone, got ${got}`, { kind: 'sql' });
