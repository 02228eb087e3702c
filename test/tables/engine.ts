import { readdirSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { latestView } from '../../infra/latest-view.ts';
import { savedQueries } from '../../infra/saved-queries.ts';
import { type Dialect, sqlType } from '../../infra/sql-type.ts';
import { glueTableOf, type Source, sourceDefinitions, sources } from '../../lib/contract.ts';
import type { Glue } from '../../lib/sandbox/aws/services/start-glue.ts';

/** A row of a result: its columns by name, in lower case. */
export type Row = Readonly<Record<string, unknown>>;

export type QueryEngine = {
  /** Runs a saved query by its name. */
  saved(name: string): Promise<readonly Row[]>;
  run(sql: string): Promise<readonly Row[]>;
  close(): void;
};

/**
 * Stands in for Athena: DuckDB over the tables as in Glue, with the columns and the views of the catalog. Like Athena,
 * it reads only the partitions that were added, and in their folders all files except those whose names begin with `_`
 * or a dot.
 */
export async function openQueryEngine(glue: Glue): Promise<QueryEngine> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const run = async (sql: string) =>
    (await connection.runAndReadAll(translated(sql))).getRowObjectsJson() as readonly Row[];
  for (const source of sources) for (const statement of tableStatements(source, glue)) await run(statement);
  for (const { name, sql } of sources.map(latestView)) await run(`CREATE VIEW ${name} AS ${sql}`);
  return {
    run,
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

/** The only difference: UNNEST of a list of rows gives their fields as columns in Athena, but one struct in DuckDB. */
const translated = (sql: string): string =>
  sql.replaceAll(
    /CROSS JOIN UNNEST\(([\w.]+)\)/g,
    'CROSS JOIN LATERAL (SELECT unnest(item) FROM (SELECT unnest($1) AS item))',
  );

const duckDb: Dialect = {
  scalars: { string: 'VARCHAR', bigint: 'BIGINT', boolean: 'BOOLEAN', timestamp: 'TIMESTAMP' },
  array: (item) => `${item}[]`,
  map: (key, value) => `MAP(${key}, ${value})`,
  row: (fields) => `STRUCT(${fields.map(({ name, type }) => `"${name}" ${type}`).join(', ')})`,
};

/** A table and what Athena calls `"table$partitions"`. */
function tableStatements(source: Source, glue: Glue): readonly string[] {
  const table = glueTableOf(source);
  const columns = Object.entries(sourceDefinitions[source].columns).map(([name, type]) => ({
    name,
    type: sqlType(type, duckDb),
  }));
  const partitions = glue.partitions(table).map(({ Values: [dt = '', run = ''], StorageDescriptor }) => {
    const folder = String((StorageDescriptor as { readonly Location: string }).Location);
    return { dt, run, files: shownFiles(folder) };
  });
  const struct = `{${columns.map(({ name, type }) => `"${name}": ${quoted(type)}`).join(', ')}}`;
  const reads = partitions
    .filter(({ files }) => files.length > 0)
    .map(
      ({ dt, run, files }) =>
        `SELECT *, ${quoted(dt)} AS dt, ${quoted(run)} AS run FROM read_json([${files.map(quoted)}],
          format = 'newline_delimited', hive_partitioning = false, columns = ${struct})`,
    );
  const typed = columns.map(({ name, type }) => `CAST(NULL AS ${type}) AS "${name}"`);
  const none = `SELECT ${typed.join(', ')}, '' AS dt, '' AS run WHERE false`;
  const values = partitions.map(({ dt, run }) => `SELECT ${quoted(dt)} AS dt, ${quoted(run)} AS run`);
  return [
    `CREATE VIEW ${table} AS ${[none, ...reads].join(' UNION ALL ')}`,
    `CREATE VIEW "${table}$partitions" AS ${[`SELECT '' AS dt, '' AS run WHERE false`, ...values].join(' UNION ALL ')}`,
  ];
}

const shownFiles = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => !/^[_.]/.test(name))
    .map((name) => `${folder}${name}`);

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
