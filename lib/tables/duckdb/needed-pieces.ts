import type { DuckDBConnection } from '@duckdb/node-api';
import { queryErrorOf } from './query-error.ts';
import { identifier } from './quoted.ts';
import { createEmpty, createOfPieces, type NamedPiece, PIECES, pieceName } from './schema.ts';
import { columnsAfter, type Piece, type Table } from './table.ts';

/** A table that a query reads, and which of its pieces it needs. */
export type NeededPieces = {
  readonly table: Table;
  readonly needed: readonly Piece[];
  /** What the values of the other pieces begin with: `[dt]` of a day that is not needed, `[dt, run]` of a run. */
  readonly excluded: readonly (readonly string[])[];
};

/**
 * Finds out what a query reads, before anything is read: DuckDB plans it over tables without rows whose last columns are
 * constants. What conditions on these columns exclude is not in the plan. First there is one such table for each value of
 * the first of these columns, then one for each of the first two of what is left, and so on: planning takes milliseconds a
 * table. `connection` has all tables without rows. Throws `QueryError` if the SQL is wrong.
 */
export async function neededPieces(
  connection: DuckDBConnection,
  tables: readonly Table[],
  sql: string,
): Promise<readonly NeededPieces[]> {
  const named = await tablesInPlan(connection, sql);
  const read = tables.filter(({ name }) => named.has(`${PIECES}.${name}`));
  const reads = (name: RegExp) => read.some((table) => name.test(table.name));
  let found: readonly NeededPieces[] = await Promise.all(
    read.map(async (table) => ({ table, needed: await table.pieces(reads), excluded: [] })),
  );
  const levels = Math.max(0, ...read.map(({ pieceColumns }) => pieceColumns.length));
  const views = new Set<Table>();
  for (let level = 1; level <= levels; level += 1) {
    const divided = found.flatMap((each) => dividedAt(level, each) ?? []);
    if (divided.length === 0) continue;
    for (const { table, create } of divided) {
      // A table without rows at first, then a view over the groups of the level before.
      const kind = views.has(table) ? 'VIEW' : 'TABLE';
      await connection.run(`DROP ${kind} ${PIECES}.${identifier(table.name)};\n${create}`);
      views.add(table);
    }
    const planned = await tablesInPlan(connection, sql);
    const left = new Map(divided.map((each) => [each.table, leftOf(each, planned)]));
    found = found.map((each) => left.get(each.table) ?? each);
  }
  return found;
}

/** A table whose pieces are put together by their first values, and the SQL that creates it of these groups. */
type Divided = NeededPieces & {
  readonly groups: readonly (NamedPiece & { readonly pieces: readonly Piece[] })[];
  readonly create: string;
};

/** Undefined if there is nothing to tell apart. */
function dividedAt(level: number, found: NeededPieces): Divided | undefined {
  const { table, needed } = found;
  const last = table.pieceColumns.length;
  const byValues = Map.groupBy(needed, ({ values }) => JSON.stringify(values.slice(0, level)));
  if (level > last || needed.length < 2 || (byValues.size < 2 && level < last)) return undefined;
  const groups = [...byValues.values()].map((pieces, at) => {
    const values = (pieces[0]?.values ?? []).slice(0, level);
    return { name: pieceName(table, `${level}_${at}`), values, pieces };
  });
  return { ...found, groups, create: createGroups(table, groups) };
}

const createGroups = (table: Table, groups: readonly NamedPiece[]): string =>
  [
    ...groups.map(({ name, values }) =>
      createEmpty(`${PIECES}.${identifier(name)}`, columnsAfter(table, values.length)),
    ),
    createOfPieces(table, groups),
  ].join(';\n');

function leftOf({ table, excluded, groups }: Divided, planned: ReadonlySet<string>): NeededPieces {
  const isNeeded = ({ name }: NamedPiece) => planned.has(`${PIECES}.${name}`);
  return {
    table,
    needed: groups.filter(isNeeded).flatMap(({ pieces }) => pieces),
    excluded: [...excluded, ...groups.filter((each) => !isNeeded(each)).map(({ values }) => values)],
  };
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
