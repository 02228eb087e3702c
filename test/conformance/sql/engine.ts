import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { renewModel } from '../../../lib/model/index.ts';
import { findModel } from '../../../lib/model/open-model.ts';
import { createDirectoryStore } from '../../../lib/store/directory.ts';
import { duckDbMacros, duckDbSql } from '../../../lib/tables/duckdb/query-text.ts';

export type QueryEngine = {
  readonly run: (sql: string) => Promise<unknown>;
  /** The rows of a query as lists of values. */
  readonly lists: (sql: string) => Promise<readonly (readonly unknown[])[]>;
  readonly close: () => void;
};

/** Opens DuckDB with Trino's functions and with the tables of a store in a directory, whose model is updated first. */
export async function openQueryEngine(folder: string): Promise<QueryEngine> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const statements = [...duckDbMacros, ...(await modelViews(folder)), "SET TimeZone = 'UTC'"];
  for (const statement of statements) await connection.run(statement);
  return {
    run: (sql) => connection.run(duckDbSql(sql)),
    lists: async (sql) => (await connection.runAndReadAll(duckDbSql(sql))).getRowsJson(),
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function modelViews(folder: string): Promise<readonly string[]> {
  const addFault = (fault: string) => {
    throw new Error(fault);
  };
  const store = createDirectoryStore(folder);
  await renewModel({ store, now: Date.now, addFault });
  const { model } = await findModel(store);
  return Object.entries(model?.tables ?? {}).map(
    ([name, { key }]) =>
      `CREATE VIEW stored_model_${name} AS SELECT * FROM read_parquet('${join(folder, key)}')`,
  );
}
