import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import { QueryError, queryErrorOf } from './query-error.ts';
import { PIECES } from './schema.ts';

/** A column of a result; `type` is DuckDB's. */
export type ResultColumn = { readonly name: string; readonly type: string };

/** The whole result of a query, in DuckDB's memory or on disk. */
export type Executed = {
  readonly columns: readonly ResultColumn[];
  readonly rows: number;
  /** Throws `QueryError` if they end too early. */
  readonly chunks: () => AsyncGenerator<DuckDBDataChunk>;
};

/** The name of the table of a query's result. */
export const RESULT = `${PIECES}.result`;

/**
 * Runs one SELECT to its end. Rows are returned only afterwards: DuckDB ends a result that is read while it is made
 * without a word when it fails, as if it were complete. Throws `QueryError`.
 */
export async function execute(connection: DuckDBConnection, sql: string): Promise<Executed> {
  try {
    // These make no table by themselves.
    const isShown = /^(?:describe|desc|summarize|show)\b/i.test(sql);
    await connection.run(`CREATE TABLE ${RESULT} AS\n${isShown ? `FROM (\n${sql}\n)` : sql}`);
    const counted = await connection.runAndReadAll(`SELECT count(*) FROM ${RESULT}`);
    const rows = Number(counted.getRowsJson()[0]?.[0]);
    const none = await connection.run(`FROM ${RESULT} LIMIT 0`);
    const columns = none
      .columnNames()
      .map((name, at): ResultColumn => ({ name, type: String(none.columnType(at)) }));
    return { columns, rows, chunks: () => chunksOf(connection, rows) };
  } catch (cause) {
    throw queryErrorOf(cause, 1);
  }
}

async function* chunksOf(connection: DuckDBConnection, rows: number): AsyncGenerator<DuckDBDataChunk> {
  const result = await connection.stream(`FROM ${RESULT}`);
  let left = rows;
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) break;
    left -= chunk.rowCount;
    yield chunk;
  }
  if (left !== 0) throw new QueryError(`expected ${rows} rows, got ${rows - left}`, { kind: 'other' });
}
