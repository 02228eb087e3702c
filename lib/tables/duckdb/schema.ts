import type { DuckDBConnection } from '@duckdb/node-api';
import { compareKeys } from '../../store/index.ts';
import type { View } from '../catalog/view.ts';
import { duckDbMacros, duckDbSql } from '../duckdb-dialect.ts';
import { duckDbType } from '../parquet/hive-type.ts';
import { identifier, literal, literals } from './database.ts';
import { type Macro, macros } from './macros.ts';
import type { Piece, Table } from './table.ts';

/** The schema of what is stored, so that `SHOW TABLES` lists what people see alone. */
export const PIECES = 'pieces';

export type LoadedTable = {
  readonly table: Table;
  readonly files: readonly (Pick<Piece, 'values'> & { readonly path: string })[];
};

/** What is stored, over the files that are loaded and else without rows, and over it the views and macros. */
export async function createSchema(
  connection: DuckDBConnection,
  tables: readonly Table[],
  views: readonly View[],
  loaded: readonly LoadedTable[] = [],
): Promise<void> {
  const found = new Map(loaded.map((each) => [each.table, each]));
  const stored = tables.flatMap((table) => [
    createEmpty(rowsName(table), [...typesOf(table), [FILE, 'VARCHAR']]),
    createEmpty(valuesName(table), valueColumns(table)),
    createOver(table, inPieces(valuesName(table)), found.get(table)),
  ]);
  const shown = [...duckDbMacros, ...views.map(createView), ...macros.map(createMacro)];
  await connection.run([`CREATE SCHEMA ${PIECES}`, ...stored, ...shown].join(';\n'));
}

const FILE = 'file_of_row';

const inPieces = (name: string) => `${PIECES}.${identifier(name)}`;

/** The name in `PIECES` of a table's columns, without rows: a query reads the table if this is in its plan. */
export const rowsName = ({ name }: Table): string => `rows_of_${name}`;
const valuesName = ({ name }: Table) => `values_of_${name}`;

const valueColumns = ({ pieceColumns }: Table) =>
  [FILE, ...pieceColumns].map((name) => [name, 'VARCHAR'] as const);

const typesOf = ({ columns }: Table) =>
  Object.entries(columns).map(([name, type]) => [name.toLowerCase(), duckDbType(type)] as const);

const createEmpty = (name: string, columns: readonly (readonly [name: string, type: string])[]): string =>
  `CREATE OR REPLACE TABLE ${inPieces(name)} (${columns.map(([column, type]) => `${identifier(column)} ${type}`).join(', ')})`;

/** `values`: a relation that says of each file what the last columns of its rows are. */
function createOver(table: Table, values: string, loaded?: LoadedTable): string {
  const files = loaded?.files ?? [];
  const names = valueColumns(table).map(([name]) => identifier(name));
  const paths = literals(files.map(({ path }) => path));
  const given = files.map((each) => `(${[each.path, ...each.values].map(literal).join(', ')})`).join(', ');
  const [rows, ofFiles] =
    files.length === 0
      ? [inPieces(rowsName(table)), values]
      : [
          `read_parquet(${paths}, filename = ${literal(FILE)}, hive_partitioning = false)`,
          `(SELECT * FROM (VALUES ${given}) AS given (${names.join(', ')}))`,
        ];
  const columns = Object.keys(table.columns).map((name) => `r.${identifier(name.toLowerCase())}`);
  const ofPiece = table.pieceColumns.map((name) => `f.${identifier(name)}`);
  const joined = ofPiece.length === 0 ? '' : ` JOIN ${ofFiles} AS f USING (${identifier(FILE)})`;
  return `CREATE OR REPLACE VIEW ${inPieces(table.name)} AS SELECT ${[...columns, ...ofPiece].join(', ')} FROM ${rows} AS r${joined}`;
}

export type PieceGroup = { readonly name: string; readonly pieces: readonly Piece[] };

/** The name in `PIECES` of a table's group, by its place among all of them. */
export const groupName = ({ name }: Table, index: number): string => `group${index}_of_${name}`;

/** None has rows: of one piece the last columns are constants, of several they lie between bounds. */
export function createOfGroups(table: Table, groups: readonly PieceGroup[]): string {
  const { pieceColumns } = table;
  const selects = groups.map(({ name, pieces }) => {
    const [only, ...others] = pieces;
    const constant = (column: string, at: number) =>
      `CAST(${literal(only?.values[at] ?? '')} AS VARCHAR) AS ${identifier(column)}`;
    if (others.length === 0)
      return `SELECT ${[identifier(FILE), ...pieceColumns.map(constant)].join(', ')} FROM ${inPieces(name)}`;
    const bounds = pieceColumns.map((column, at) => {
      const sorted = pieces.map(({ values }) => values[at] ?? '').sort(compareKeys);
      return `${identifier(column)} BETWEEN ${literal(sorted[0] ?? '')} AND ${literal(sorted.at(-1) ?? '')}`;
    });
    return `SELECT * FROM ${inPieces(name)} WHERE ${bounds.join(' AND ')}`;
  });
  return [
    ...groups.map(({ name }) => createEmpty(name, valueColumns(table))),
    createOver(table, `(${selects.join(' UNION ALL ')})`),
  ].join(';\n');
}

function createView({ name, sql, columns }: View): string {
  const typed = Object.entries(columns).map(([column, { type, isId, isWord }]) => {
    const collated = isId || isWord ? ' COLLATE NOCASE' : '';
    return `CAST(${identifier(column)} AS ${duckDbType(type)})${collated} AS ${identifier(column)}`;
  });
  return `CREATE VIEW ${identifier(name)} AS SELECT ${typed.join(', ')} FROM (${overStored(sql)})`;
}

const overStored = (sql: string): string => duckDbSql(sql).replaceAll(/\bstored_\w+/g, `${PIECES}.$&`);

const createMacro = ({ name, parameters, sql }: Macro): string =>
  `CREATE MACRO ${identifier(name)}(${parameters.join(', ')}) AS TABLE ${sql}`;
