import { nearestName, shortened } from '../../base/index.ts';
import { duckDbSql } from '../duckdb-dialect.ts';
import { savedQueries } from '../saved-queries.ts';
import { QueryError } from './query-error.ts';

/** A longer name is shortened in a message. */
const MAX_NAME_LENGTH = 100;

/** The SQL of a saved query for DuckDB. Throws `QueryError` if there is none of this name. */
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
