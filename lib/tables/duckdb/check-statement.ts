import type { DuckDBConnection } from '@duckdb/node-api';
import type { DuckDb } from './load-duckdb.ts';
import { QueryError, queryErrorOf } from './query-error.ts';
import { splitStatements } from './split-statements.ts';

/** The one statement that a text consists of, without a semicolon at its end. Throws `QueryError`. */
export function onlyStatement(text: string): string {
  // DuckDB would read up to it.
  if (text.includes('\0'))
    throw new QueryError('expected SQL without the character U+0000, got one', { kind: 'sql' });
  const { ended, rest, hasRest } = splitStatements(text);
  const all = [...ended, ...(hasRest ? [rest.trimEnd()] : [])];
  const [first] = all;
  if (first === undefined) throw new QueryError('expected a query, got none', { kind: 'sql' });
  if (all.length > 1)
    throw new QueryError(`expected one query, got ${all.length} statements`, { kind: 'sql' });
  return first;
}

/** The words that a query begins with, after comments and parentheses. */
const BEGINS =
  /^(?:\s|\(|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*(?:select|with|from|values|table|describe|desc|summarize|show|pivot|unpivot)\b/i;

/**
 * Throws `QueryError` unless a statement is right and only reads. `connection` has all tables. A PIVOT without its values
 * is two statements for DuckDB, of which the first creates a type that the second needs.
 */
export async function checkReads(
  { StatementType }: DuckDb,
  connection: DuckDBConnection,
  statement: string,
): Promise<void> {
  const isPivot = /\bpivot\b/i.test(statement);
  try {
    const extracted = await connection.extractStatements(statement);
    if (!BEGINS.test(statement)) throw notReading(/\w+/.exec(statement)?.[0].toUpperCase());
    const last = extracted.count - 1;
    if (last > (isPivot ? 1 : 0)) throw notReading('several statements');
    const prepared = await extracted
      .prepare(last)
      .catch((error: unknown) => (last > 0 ? undefined : Promise.reject(error)));
    const type = prepared?.statementType ?? StatementType.SELECT;
    if (type !== StatementType.SELECT) throw notReading(StatementType[type]);
  } catch (cause) {
    throw cause instanceof QueryError ? cause : queryErrorOf(cause);
  }
}

const notReading = (got = 'another statement') =>
  new QueryError(`expected a query that only reads (SELECT …), got ${got}`, { kind: 'sql' });
