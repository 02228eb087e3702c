import { globSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { findModel, renewModel } from '../../lib/model/index.ts';
import { readLastPublication } from '../../lib/snapshot/publish/last-publication.ts';
import type { Columns } from '../../lib/snapshot/sources/source-definition.ts';
import { type Source, sourceDefinitions, sources } from '../../lib/snapshot/sources/sources.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { tableNameOf } from '../../lib/tables/catalog/glue-tables.ts';
import type { View } from '../../lib/tables/catalog/view.ts';
import { viewsOver } from '../../lib/tables/catalog/views.ts';
import { duckDbMacros, duckDbSql } from '../../lib/tables/duckdb-dialect.ts';
import { savedQueries } from '../../lib/tables/saved-queries.ts';
import { type StoredTable, storedTables } from '../../lib/tables/stored-tables.ts';
import { duckDbType } from './duckdb-type.ts';

/** A row of a result: its columns by name, every number as text. */
type Row = Readonly<Record<string, unknown>>;

export type QueryEngine = {
  /** Runs a saved query by its name. */
  saved(name: string): Promise<readonly Row[]>;
  run(sql: string): Promise<readonly Row[]>;
  /** The same as lists of values. */
  lists(sql: string): Promise<readonly (readonly unknown[])[]>;
  close(): void;
};

/** DuckDB over the objects of a store in a directory, with the tables that the saved queries read. */
export async function openQueryEngine(folder: string): Promise<QueryEngine> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const run = async (sql: string) =>
    (await connection.runAndReadAll(duckDbSql(sql))).getRowObjectsJson() as readonly Row[];
  const stored = [
    ...(await Promise.all(
      sources.map(async (source) => latestView(source, await latestFiles(source, folder))),
    )),
    ...(await modelViews(folder)),
    ...Object.entries(storedTables).map(([name, table]) => storedView(name, table, folder)),
    "SET TimeZone = 'UTC'",
  ];
  const statements = [...duckDbMacros, ...stored, ...viewsOver(sources).filter(isOverStored).map(viewOf)];
  for (const statement of statements) await connection.run(statement);
  return {
    run,
    lists: async (sql) => (await connection.runAndReadAll(duckDbSql(sql))).getRowsJson(),
    async saved(name) {
      const query = savedQueries().find((each) => each.name === name);
      if (query === undefined) throw new Error(`expected a saved query ${name}, got none`);
      return run(query.sql);
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** The tables of the model, which is renewed before. */
async function modelViews(folder: string): Promise<readonly string[]> {
  const addFault = (fault: string) => {
    throw new Error(fault);
  };
  const store = createDirectoryStore(folder);
  await renewModel({ store, now: Date.now, addFault });
  const { model } = await findModel(store);
  return Object.entries(model?.tables ?? {}).map(
    ([name, { key }]) =>
      `CREATE VIEW stored_model_${name} AS SELECT * FROM read_parquet(${quoted(join(folder, key))})`,
  );
}

/** Views over what is stored here: the latest runs. */
const isOverStored = ({ name }: View) => !name.startsWith('all_');

const viewOf = ({ name, sql }: View) => `CREATE VIEW "${name}" AS ${duckDbSql(sql)}`;

async function latestFiles(source: Source, folder: string): Promise<readonly string[]> {
  const { manifest } = await readLastPublication(createDirectoryStore(folder), source);
  return (manifest?.parts ?? []).map(({ key }) => join(folder, key));
}

/** The records of a run, from its lines, with timestamps as Parquet has them; `_other` is null. */
function latestView(source: Source, files: readonly string[]): string {
  const { columns } = sourceDefinitions[source];
  const isMade = (name: string) => name === '_other' || columnsAt(columns).includes(name);
  const fields = Object.fromEntries(Object.entries(columns).filter(([name]) => !isMade(name)));
  const made = columnsAt(columns).map((name) => `epoch_ms("${name.slice(0, -'_at'.length)}") AS "${name}"`);
  const path = (name: string) => `regexp_extract(filename, '/${name}=([^/]+)/', 1) AS ${name}`;
  const all = ['* EXCLUDE (filename)', ...made, 'CAST(NULL AS VARCHAR) AS _other', path('dt'), path('run')];
  return `CREATE VIEW stored_latest_${tableNameOf(source)} AS SELECT ${all.join(', ')} FROM ${linesOf(files, fields)}`;
}

const columnsAt = (columns: Columns) => Object.keys(columns).filter((name) => columns[name] === 'timestamp');

/** Like Athena, it reads all files except those whose names begin with `_` or a dot. */
function storedView(name: string, { folder, columns, partitions }: StoredTable, store: string): string {
  const files = globSync(join(store, folder, '**/*.{json,gz}')).filter((file) => !/\/[_.][^/]*$/.test(file));
  const keys = partitions.map((partition, at) => {
    const pattern = `${'[^/]+/'.repeat(at)}${partition.prefix}([^/]+)`;
    return `regexp_extract(filename, '${RegExp.escape(join(store, folder))}${pattern}', 1) AS "${partition.name}"`;
  });
  return `CREATE VIEW stored_${name} AS SELECT ${['* EXCLUDE (filename)', ...keys].join(', ')} FROM ${linesOf(files, columns)}`;
}

/** A relation over files of JSON lines, with their names as `filename`. */
function linesOf(files: readonly string[], columns: Columns): string {
  const types = Object.entries(columns).map(([name, type]) => [name, duckDbType(type)] as const);
  if (files.length === 0)
    return `(SELECT ${[...types, ['filename', 'VARCHAR']].map(([name, type]) => `CAST(NULL AS ${type}) AS "${name}"`).join(', ')} WHERE false)`;
  const struct = types.map(([name, type]) => `"${name}": ${quoted(type)}`).join(', ');
  return `read_json([${files.map(quoted).join(', ')}], format = 'newline_delimited', hive_partitioning = false,
    filename = true, maximum_object_size = 100000000, columns = {${struct}})`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
