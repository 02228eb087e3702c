import type { DuckDBDataChunk } from '@duckdb/node-api';
import { type Database, type DuckDb, literal, withInterrupt } from './database.ts';
import { createExactValue, type ExactValue } from './exact-value.ts';
import { QueryError, queryErrorOf } from './query-error.ts';
import { PIECES } from './schema.ts';

/** A column of a result; `type` is DuckDB's. */
export type ResultColumn = { readonly name: string; readonly type: string };

/** All rows of a query, in DuckDB's memory or on disk. */
export type ResultRows = AsyncDisposable & {
  readonly columns: readonly ResultColumn[];
  readonly rows: number;
  /** The rows in their order, some thousands at a time, each with the values of the columns. */
  readonly batches: () => AsyncGenerator<readonly (readonly ExactValue[])[]>;
  /** The same one by one: no row is held in memory before it is asked for. */
  readonly each: () => AsyncGenerator<readonly ExactValue[]>;
  /** Writes them to the file of Parquet of the query, which is new, and returns its path. */
  readonly writeParquet: () => Promise<string>;
};

export type ExecuteOptions = {
  readonly duckDb: DuckDb;
  readonly output: string;
  readonly signal: AbortSignal;
};

const RESULT = `${PIECES}.result`;

/**
 * Runs one SELECT to its end. Rows are returned only afterwards: DuckDB ends a result that is read while it is made
 * without a word when it fails, as if it were complete. The database is closed with the result. Throws `QueryError`.
 */
export async function execute(
  database: Database,
  sql: string,
  { duckDb, output, signal }: ExecuteOptions,
): Promise<ResultRows> {
  const { connection } = database;
  const exact = createExactValue(duckDb);
  const { columns, rows } = await runToEnd(connection, sql).catch((cause: unknown) => {
    throw queryErrorOf(cause, 1);
  });

  async function* chunks(): AsyncGenerator<DuckDBDataChunk> {
    const result = await connection.stream(`FROM ${RESULT}`);
    let left = rows;
    for (;;) {
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) break;
      left -= chunk.rowCount;
      signal.throwIfAborted();
      yield chunk;
    }
    if (left !== 0) throw new QueryError(`expected ${rows} rows, got ${rows - left}`, { kind: 'other' });
  }
  return {
    columns,
    rows,
    async *batches() {
      for await (const chunk of chunks()) yield chunk.getRows().map((row) => row.map(exact));
    },
    async *each() {
      for await (const chunk of chunks())
        for (let row = 0; row < chunk.rowCount; row += 1) {
          signal.throwIfAborted();
          yield chunk.getRowValues(row).map(exact);
        }
    },
    async writeParquet() {
      const copy = `COPY ${RESULT} TO ${literal(output)} (FORMAT parquet, COMPRESSION zstd)`;
      await withInterrupt(connection, signal, () => connection.run(copy));
      return output;
    },
    async [Symbol.asyncDispose]() {
      database[Symbol.dispose]();
    },
  };
}

async function runToEnd(connection: Database['connection'], sql: string) {
  // These make no table by themselves.
  const isShown = /^(?:describe|desc|summarize|show)\b/i.test(sql);
  await connection.run(`CREATE TABLE ${RESULT} AS\n${isShown ? `FROM (\n${sql}\n)` : sql}`);
  const counted = await connection.runAndReadAll(`SELECT count(*) FROM ${RESULT}`);
  const none = await connection.run(`FROM ${RESULT} LIMIT 0`);
  const columns = none
    .columnNames()
    .map((name, at): ResultColumn => ({ name, type: String(none.columnType(at)) }));
  return { columns, rows: Number(counted.getRowsJson()[0]?.[0]) };
}
