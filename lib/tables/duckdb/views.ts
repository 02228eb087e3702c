import type { DuckDBConnection } from '@duckdb/node-api';
import type { View } from '../catalog/view.ts';
import { identifier, literal, literals } from './quoted.ts';
import { createEmpty, createOfPieces, createShown, PIECES, pieceName, SCHEMA } from './schema.ts';
import { type Column, columnsAfter, type DataFile, type Piece, type Table } from './table.ts';

/** A table with the files of the pieces that a query needs; those of the others, put together by their first values, are undefined. */
export type LoadedTable = {
  readonly table: Table;
  readonly pieces: readonly (Pick<Piece, 'values'> & { readonly files: readonly DataFile[] | undefined })[];
};

type Shown = {
  readonly tables: readonly Table[];
  readonly views: readonly View[];
  readonly loaded: readonly LoadedTable[];
};

/** Creates what is stored, over its files, and what people see of it. What was not loaded fails when a query reads it. */
export async function createViews(
  connection: DuckDBConnection,
  { tables, views, loaded }: Shown,
): Promise<void> {
  const byTable = new Map(loaded.map((each) => [each.table, each.pieces]));
  const made = tables.flatMap((table) => {
    const pieces = byTable.get(table) ?? [{ values: table.pieceColumns.map(() => ''), files: undefined }];
    const named = pieces.map(({ values, files }, at) => ({ name: pieceName(table, at), values, files }));
    return [
      ...named.map((piece) => createPiece(columnsAfter(table, piece.values.length), piece)),
      createOfPieces(table, named),
    ];
  });
  await connection.run([SCHEMA, UNREAD, ...made].join(';\n'));
  await createShown(connection, views);
}

/** One row, whose text is the error of a query that reads what it was thought not to need. */
const UNREAD = `CREATE TABLE ${PIECES}.unread AS SELECT 'this part of the query was not expected to be read' AS message`;

function createPiece(
  columns: readonly Column[],
  { name, files }: { readonly name: string; readonly files: readonly DataFile[] | undefined },
): string {
  const piece = `${PIECES}.${identifier(name)}`;
  if (files === undefined) {
    const nulls = columns.map((column) => `CAST(NULL AS ${column.type}) AS ${identifier(column.name)}`);
    return `CREATE VIEW ${piece} AS SELECT ${nulls.join(', ')} FROM ${PIECES}.unread WHERE error(message) IS NULL`;
  }
  if (files.length === 0) return createEmpty(piece, columns);
  const empty = identifier(`${name}_empty`);
  const typed = columns.map(
    (column) => `CAST(${identifier(column.name)} AS ${column.type}) AS ${identifier(column.name)}`,
  );
  // Columns that are younger than a file come from the table without rows.
  const sources = [`FROM ${PIECES}.${empty}`, ...readFiles(columns, files)];
  return [
    createEmpty(`${PIECES}.${empty}`, columns),
    `CREATE VIEW ${piece} AS SELECT ${typed.join(', ')} FROM (${sources.join(' UNION ALL BY NAME ')})`,
  ].join(';\n');
}

/** Queries over files: those of Parquet together, and those of lines one by one. */
function readFiles(columns: readonly Column[], files: readonly DataFile[]): readonly string[] {
  const parquet = files.filter(({ longestLine }) => longestLine === undefined);
  const byJson = Map.groupBy(parquet, ({ jsonColumns = [] }) => jsonColumns.join());
  return [
    ...[...byJson.values()].map(readParquet),
    ...files.flatMap(({ path, longestLine }) =>
      longestLine === undefined ? [] : [readLines(columns, path, longestLine)],
    ),
  ];
}

/** Files with the same columns of JSON. */
function readParquet(files: readonly DataFile[]): string {
  const replaced = (files[0]?.jsonColumns ?? []).map(
    (name) => `${plainText(identifier(name))} AS ${identifier(name)}`,
  );
  const all = replaced.length === 0 ? '*' : `* REPLACE (${replaced.join(', ')})`;
  return `SELECT ${all} FROM read_parquet(${literals(files.map(({ path }) => path))}, union_by_name = true)`;
}

/** JSON that is a text without its quotes, if DuckDB can have that text: half of a surrogate pair stays JSON. */
const plainText = (column: string) =>
  `CASE WHEN ${column} LIKE '"%' THEN coalesce(TRY(json_extract_string(${column}, '$')), ${column}) ELSE ${column} END`;

/** DuckDB reads blocks of this size at least. */
const LEAST_LINE_BYTES = 1_000_000;

function readLines(columns: readonly Column[], path: string, longestLine: number): string {
  const texts = columns.map(({ name, type }) => `${literal(name)}: ${literal(textType(type))}`);
  const typed = columns.map(
    ({ name, type }) => `TRY_CAST(${identifier(name)} AS ${type}) AS ${identifier(name)}`,
  );
  const most = Math.max(longestLine + 1, LEAST_LINE_BYTES);
  return `SELECT ${typed.join(', ')} FROM read_json(${literal(path)}, format = 'newline_delimited', columns = {${texts.join(', ')}}, maximum_object_size = ${most})`;
}

/** The type that a column has in a file of lines. */
const textType = (type: string): string => (/[[(]/.test(type) ? type : 'VARCHAR');

/** All files that a query may read. */
export const filesOf = (loaded: readonly LoadedTable[]): readonly string[] =>
  loaded.flatMap(({ pieces }) => pieces.flatMap(({ files = [] }) => files.map(({ path }) => path)));
