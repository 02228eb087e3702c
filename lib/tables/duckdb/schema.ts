import type { DuckDBConnection } from '@duckdb/node-api';
import type { View } from '../catalog/view.ts';
import { duckDbMacros, duckDbSql } from '../duckdb-dialect.ts';
import { duckDbType } from './duckdb-type.ts';
import { type Macro, macros } from './macros.ts';
import { identifier, literal } from './quoted.ts';
import { type Column, columnsAfter, type Table } from './table.ts';

/** The schema of what is stored and of its pieces, so that `SHOW TABLES` lists what people see alone. */
export const PIECES = 'pieces';

/** The name in `PIECES` of a table's piece, by its place among all of the table's pieces. */
export const pieceName = ({ name }: Pick<Table, 'name'>, index: number | string): string =>
  `p${index}__${name}`;

/** A piece of a table in SQL: its name in `PIECES`, and the values of the first of the table's piece columns. It has the others itself. */
export type NamedPiece = { readonly name: string; readonly values: readonly string[] };

/** Creates what people see, over what is stored: the views, the macros, and the functions of Trino that both use. */
export async function createShown(connection: DuckDBConnection, views: readonly View[]): Promise<void> {
  await connection.run([...duckDbMacros, ...views.map(createView), ...macros.map(createMacro)].join(';\n'));
}

function createView({ name, sql, columns }: View): string {
  const typed = Object.entries(columns).map(
    ([column, { type }]) => `CAST(${identifier(column)} AS ${duckDbType(type)}) AS ${identifier(column)}`,
  );
  return `CREATE VIEW ${identifier(name)} AS SELECT ${typed.join(', ')} FROM (${overStored(sql)})`;
}

/** What is stored is in a schema of its own, so that `SHOW TABLES` lists what people see. */
const overStored = (sql: string): string => duckDbSql(sql).replaceAll(/\bstored_\w+/g, `${PIECES}.$&`);

const createMacro = ({ name, parameters, sql }: Macro): string =>
  `CREATE MACRO ${identifier(name)}(${parameters.join(', ')}) AS TABLE ${sql}`;

/** Creates all tables without rows, and what people see over them. */
export async function createSchema(
  connection: DuckDBConnection,
  tables: readonly Table[],
  views: readonly View[],
): Promise<void> {
  await connection.run([SCHEMA, ...tables.map((table) => createOfPieces(table, []))].join(';\n'));
  await createShown(connection, views);
}

/** SQL that creates the schema of pieces. */
export const SCHEMA = `CREATE SCHEMA ${PIECES}`;

/** SQL that creates a table without rows. `name` is quoted. */
export const createEmpty = (name: string, columns: readonly Column[]): string =>
  `CREATE TABLE ${name} (${columns.map((column) => `${identifier(column.name)} ${column.type}`).join(', ')})`;

/** SQL that creates a table of pieces, which have its columns; without pieces it has no rows. */
export function createOfPieces(table: Table, pieces: readonly NamedPiece[]): string {
  if (pieces.length === 0) return createEmpty(`${PIECES}.${identifier(table.name)}`, columnsAfter(table, 0));
  const rows = pieces.map(
    ({ name, values }) => `${selectPiece(table, values)} FROM ${PIECES}.${identifier(name)}`,
  );
  return `CREATE VIEW ${PIECES}.${identifier(table.name)} AS\n${rows.join('\nUNION ALL\n')}`;
}

function selectPiece({ columns, pieceColumns }: Table, values: readonly string[]): string {
  const ofPiece = pieceColumns.map((column, at) =>
    at < values.length
      ? `CAST(${literal(values[at] ?? '')} AS VARCHAR) AS ${identifier(column)}`
      : identifier(column),
  );
  return `SELECT ${[...columns.map(({ name }) => identifier(name)), ...ofPiece].join(', ')}`;
}
