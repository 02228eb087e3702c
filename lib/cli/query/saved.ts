import { nearestName, shortened } from '../../base/index.ts';
import { duckDbSql } from '../../tables/duckdb-dialect.ts';
import { savedQueries } from '../../tables/saved-queries.ts';
import { UsageError } from '../errors/usage-error.ts';
import { inColumns } from '../terminal/terminal.ts';

/** The SQL of a saved query for DuckDB. Throws `UsageError` if there is none of this name. */
export function savedSql(name: string): string {
  const all = savedQueries();
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return duckDbSql(found.sql);
  const meant = nearestName(
    name,
    all.map((each) => each.name),
  );
  const hint = meant === undefined ? 'query --saved lists them' : `did you mean ${meant}?`;
  throw new UsageError(
    `expected the name of a saved query, got ${JSON.stringify(shortened(name, LONGEST_NAME))}; ${hint}`,
  );
}

/** A longer name is shortened in a message. */
const LONGEST_NAME = 100;

/** The saved queries for people, a line each. */
export const listSaved = (): readonly string[] =>
  inColumns(
    ['NAME', 'SHOWS'],
    savedQueries().map(({ name, description }) => [name, description]),
  );
