import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { loadPeer } from '../../base/index.ts';
import { compareKeys } from '../../store/index.ts';
import { macros } from '../catalog/macros.ts';
import type { View } from '../catalog/view.ts';
import { duckDbType } from '../parquet/hive-type.ts';
import { duckDbMacros, duckDbSql } from './query-text.ts';
import type { Piece, Table } from './stored-files.ts';

/** The schema that the stored tables are in, so that `SHOW TABLES` lists only the views, which are for users. */
export const PIECES_SCHEMA = 'pieces';

type LoadedTable = {
  readonly table: Table;
  readonly files: readonly (Pick<Piece, 'values'> & { readonly path: string })[];
};

/** Creates the stored tables over the loaded files, and the views and macros that read them. */
export async function createSchema(
  connection: DuckDBConnection,
  options: {
    readonly tables: readonly Table[];
    readonly views: readonly View[];
    /** The tables with loaded files. Default: none, so that all tables are empty. */
    readonly loaded?: readonly LoadedTable[];
    /** The time that `now()` returns, in epoch milliseconds. Default: the current time. */
    readonly atMs?: number | undefined;
  },
): Promise<void> {
  const { tables, views, loaded = [], atMs } = options;
  const found = new Map(loaded.map((each) => [each.table, each]));
  const stored = tables.flatMap((table) => [
    createEmpty(rowsName(table), [...typesOf(table), [FILE_COLUMN, 'VARCHAR']]),
    createEmpty(valuesName(table), valueColumns(table)),
    createViewOverFiles(table, inPieces(valuesName(table)), found.get(table)),
  ]);
  const clock = atMs === undefined ? [] : clockAt(new Date(atMs).toISOString());
  const shown = [...clock, ...duckDbMacros, ...views.map(createView), ...macros.map(createMacro)];
  await connection.run([`CREATE SCHEMA ${PIECES_SCHEMA}`, ...stored, ...shown].join(';\n'));
}

/** SQL that replaces DuckDB's functions for the current time by functions that return the given time. */
const clockAt = (time: string): readonly string[] => [
  ...['current_date', 'today'].map(
    (name) => `CREATE MACRO ${identifier(name)}() AS DATE ${literal(time.slice(0, 10))}`,
  ),
  ...['now', 'current_timestamp', 'get_current_timestamp', 'transaction_timestamp'].map(
    (name) => `CREATE MACRO ${identifier(name)}() AS TIMESTAMPTZ ${literal(time)}`,
  ),
];

/** The column with the path of the file that a row comes from. */
const FILE_COLUMN = 'file_of_row';

const inPieces = (name: string) => `${PIECES_SCHEMA}.${identifier(name)}`;

/**
 * The name, in the schema `pieces`, of an empty table with the columns of a stored table. If a query's plan contains
 * it, the query reads the stored table.
 */
export const rowsName = ({ name }: Table): string => `rows_of_${name}`;
const valuesName = ({ name }: Table) => `values_of_${name}`;

const valueColumns = ({ pieceColumns }: Table) =>
  [FILE_COLUMN, ...pieceColumns].map((name) => [name, 'VARCHAR'] as const);

const typesOf = ({ columns }: Table) =>
  Object.entries(columns).map(([name, type]) => [name.toLowerCase(), duckDbType(type)] as const);

const createEmpty = (name: string, columns: readonly (readonly [name: string, type: string])[]): string =>
  `CREATE OR REPLACE TABLE ${inPieces(name)} (${columns.map(([column, type]) => `${identifier(column)} ${type}`).join(', ')})`;

/**
 * SQL that creates a stored table as a view over its loaded files. `values`: if no files are loaded, the relation that
 * provides the values of the piece columns.
 */
function createViewOverFiles(table: Table, values: string, loaded?: LoadedTable): string {
  const files = loaded?.files ?? [];
  const names = valueColumns(table).map(([name]) => identifier(name));
  const paths = literals(files.map(({ path }) => path));
  const rowsOfFiles = files
    .map((each) => `(${[each.path, ...each.values].map(literal).join(', ')})`)
    .join(', ');
  const [rows, ofFiles] =
    files.length === 0
      ? [inPieces(rowsName(table)), values]
      : [
          `read_parquet(${paths}, filename = ${literal(FILE_COLUMN)}, hive_partitioning = false)`,
          `(SELECT * FROM (VALUES ${rowsOfFiles}) AS file_values (${names.join(', ')}))`,
        ];
  const columns = Object.keys(table.columns).map((name) => `r.${identifier(name.toLowerCase())}`);
  const ofPiece = table.pieceColumns.map((name) => `f.${identifier(name)}`);
  const joined = ofPiece.length === 0 ? '' : ` JOIN ${ofFiles} AS f USING (${identifier(FILE_COLUMN)})`;
  return `CREATE OR REPLACE VIEW ${inPieces(table.name)} AS SELECT ${[...columns, ...ofPiece].join(', ')} FROM ${rows} AS r${joined}`;
}

/** The name, in the schema `pieces`, of a table's group with this index. */
export const groupName = ({ name }: Table, index: number): string => `group${index}_of_${name}`;

/**
 * SQL that creates a stored table as the union of groups without rows, so that a query's plan shows which groups it
 * reads. In a group of one piece, the piece columns are constants; in a larger group, they are within bounds.
 */
export function createGroupUnion(
  table: Table,
  groups: readonly { readonly name: string; readonly pieces: readonly Piece[] }[],
): string {
  const { pieceColumns } = table;
  const selects = groups.map(({ name, pieces }) => {
    const [only, ...others] = pieces;
    const constant = (column: string, at: number) =>
      `CAST(${literal(only?.values[at] ?? '')} AS VARCHAR) AS ${identifier(column)}`;
    if (others.length === 0)
      return `SELECT ${[identifier(FILE_COLUMN), ...pieceColumns.map(constant)].join(', ')} FROM ${inPieces(name)}`;
    const bounds = pieceColumns.map((column, at) => {
      const sorted = pieces.map(({ values }) => values[at] ?? '').sort(compareKeys);
      return `${identifier(column)} BETWEEN ${literal(sorted[0] ?? '')} AND ${literal(sorted.at(-1) ?? '')}`;
    });
    return `SELECT * FROM ${inPieces(name)} WHERE ${bounds.join(' AND ')}`;
  });
  return [
    ...groups.map(({ name }) => createEmpty(name, valueColumns(table))),
    createViewOverFiles(table, `(${selects.join(' UNION ALL ')})`),
  ].join(';\n');
}

function createView({ name, sql, columns }: View): string {
  const typed = Object.entries(columns).map(([column, { type, isId, isWord }]) => {
    const collated = isId || isWord ? ' COLLATE NOCASE' : '';
    return `CAST(${identifier(column)} AS ${duckDbType(type)})${collated} AS ${identifier(column)}`;
  });
  return `CREATE VIEW ${identifier(name)} AS SELECT ${typed.join(', ')} FROM (${overStored(sql)})`;
}

const overStored = (sql: string): string => duckDbSql(sql).replaceAll(/\bstored_\w+/g, `${PIECES_SCHEMA}.$&`);

const createMacro = ({ name, parameters, sql }: (typeof macros)[number]): string =>
  `CREATE MACRO ${identifier(name)}(${parameters.join(', ')}) AS TABLE ${sql}`;

/** The module of DuckDB. */
export type DuckDb = typeof import('@duckdb/node-api');

/** Loads DuckDB, 70 MB that only SQL needs. Throws `PeerMissingError` if it is not installed. */
export const loadDuckDb = (load: () => Promise<DuckDb> = () => import('@duckdb/node-api')): Promise<DuckDb> =>
  loadPeer('@duckdb/node-api', load);

/** An open database in memory. */
type Database = Disposable & {
  readonly connection: DuckDBConnection;
  /** From now on, allows only these files to be read, and no setting to be changed. */
  readonly lock: (files: readonly string[]) => Promise<void>;
};

/** Opens an empty database in memory. It neither installs nor loads extensions; times are in UTC. */
export async function openDatabase(
  { DuckDBInstance }: DuckDb,

  /** Limits for what a query may use of this machine. */
  options: {
    readonly memoryMb: number;
    readonly threads: number;
    /** The folder in which DuckDB stores what does not fit into memory. */
    readonly folder: string;
    readonly diskBytes: number;
  },
): Promise<Database> {
  const { memoryMb, threads, folder, diskBytes } = options;
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryMb}MB`,
    threads: String(threads),
    temp_directory: join(folder, 'spilled'),
    max_temp_directory_size: `${Math.max(1, Math.floor(diskBytes / 1e6))}MB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    // If a file changes during a query, the query must not use a mix of old and new bytes.
    enable_external_file_cache: 'false',
  });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  return {
    connection,
    async lock(files) {
      await connection.run(`SET allowed_paths = ${literals(files)}`);
      await connection.run('SET enable_external_access = false');
      await connection.run('SET lock_configuration = true');
    },
    [Symbol.dispose]() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** DuckDB ignores an interrupt before the query has begun, so it is repeated at this interval. */
const REPEAT_MS = 50;

/**
 * Awaits `work`, which runs queries on `connection`. If the signal is aborted, the queries stop, and its reason is
 * thrown.
 */
export async function withInterrupt<T>(
  connection: DuckDBConnection,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  let repeat: NodeJS.Timeout | undefined;
  const onAbort = () => {
    connection.interrupt();
    repeat = setInterval(() => connection.interrupt(), REPEAT_MS);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const done = await work();
    // DuckDB may end an interrupted result as if it were complete.
    signal.throwIfAborted();
    return done;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    clearInterval(repeat);
  }
}

/** Quotes a string as an SQL literal. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Quotes a name, with any characters, as an SQL identifier. */
const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const literals = (strings: readonly string[]): string => `[${strings.map(literal).join(', ')}]`;
