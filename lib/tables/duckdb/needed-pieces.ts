import type { DuckDBConnection } from '@duckdb/node-api';
import { queryErrorOf } from './query-error.ts';
import { identifier } from './quoted.ts';
import { createEmpty, createOfPieces, PIECES, pieceName } from './schema.ts';
import type { Piece, Table } from './table.ts';

/** A table that a query reads, all of its pieces, and which of them it needs. */
export type NeededPieces = {
  readonly table: Table;
  readonly pieces: readonly Piece[];
  /** Places in `pieces`. */
  readonly needed: ReadonlySet<number>;
};

/**
 * Finds out what a query reads, before anything is read: DuckDB plans it over tables without rows, one for each piece,
 * whose last columns are constants. What conditions on these columns exclude is not in the plan. `connection` has
 * all tables without rows. Throws `QueryError` if the SQL is wrong.
 */
export async function neededPieces(
  connection: DuckDBConnection,
  tables: readonly Table[],
  sql: string,
): Promise<readonly NeededPieces[]> {
  const named = await tablesInPlan(connection, sql);
  const wanted = tables.filter(({ name }) => named.has(`${PIECES}.${name}`));
  const reads = (name: RegExp) => wanted.some((table) => name.test(table.name));
  const read = await Promise.all(wanted.map(async (table) => ({ table, pieces: await table.pieces(reads) })));
  const divided = read.filter(({ table, pieces }) => table.pieceColumns.length > 0 && pieces.length > 1);
  for (const each of divided) await connection.run(divide(each));
  const planned = divided.length === 0 ? named : await tablesInPlan(connection, sql);
  return read.map(({ table, pieces }) => ({
    table,
    pieces,
    needed: new Set(
      [...pieces.keys()].filter(
        (at) =>
          !divided.some((each) => each.table === table) || planned.has(`${PIECES}.${pieceName(table, at)}`),
      ),
    ),
  }));
}

/** SQL that replaces a table by one of pieces, each without rows. */
function divide({ table, pieces }: Pick<NeededPieces, 'table' | 'pieces'>): string {
  const named = pieces.map(({ values }, at) => ({ name: pieceName(table, at), values }));
  return [
    `DROP TABLE ${PIECES}.${identifier(table.name)}`,
    ...named.map(({ name }) => createEmpty(`${PIECES}.${identifier(name)}`, table.columns)),
    createOfPieces(table, named),
  ].join(';\n');
}

/** Tables in the plan of a query, each as `SCHEMA.NAME`. */
async function tablesInPlan(connection: DuckDBConnection, sql: string): Promise<ReadonlySet<string>> {
  try {
    const explained = await connection.runAndReadAll(`EXPLAIN (FORMAT JSON)\n${sql}`);
    const plan = explained.getRowsJson().flat().join('\n');
    return new Set([...plan.matchAll(/"Table": "memory\.((?:\\.|[^"\\])+)"/g)].map(([, name = '']) => name));
  } catch (cause) {
    throw queryErrorOf(cause, 1);
  }
}
