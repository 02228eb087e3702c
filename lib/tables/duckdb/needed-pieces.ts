import type { DuckDBConnection } from '@duckdb/node-api';
import PQueue from 'p-queue';
import { compareKeys } from '../../store/index.ts';
import type { LocalCopies } from './local-copies.ts';
import { QueryError, queryErrorOf } from './query-error.ts';
import { createOfGroups, groupName, type LoadedTable, type PieceGroup, rowsName } from './schema.ts';
import type { Piece, Table } from './table.ts';

/** A table that a query reads, and which of its pieces it needs. */
export type NeededPieces = { readonly table: Table; readonly pieces: readonly Piece[] };

/** Planning takes a third of a millisecond a group. */
const MOST_GROUPS = 64;

/**
 * What a query reads, before anything is read: DuckDB plans it over groups of pieces without rows whose last columns
 * have bounds or constants, and leaves out what conditions exclude. First a few groups of many pieces, then one for
 * each piece of what is left. Throws `QueryError` if the SQL is wrong.
 */
export async function neededPieces(
  connection: DuckDBConnection,
  tables: readonly Table[],
  sql: string,
): Promise<readonly NeededPieces[]> {
  const named = await tablesInPlan(connection, sql);
  const read = tables.filter((table) => named.has(rowsName(table)));
  const reads = (name: RegExp) => read.some((table) => name.test(table.name));
  let found: readonly NeededPieces[] = await Promise.all(
    read.map(async (table) => ({ table, pieces: await table.pieces(reads) })),
  );
  for (const mostGroups of [MOST_GROUPS, Number.POSITIVE_INFINITY]) {
    const grouped = found.map((each) => ({ ...each, groups: groupsOf(each, mostGroups) }));
    const created = grouped.filter(({ groups }) => groups.length > 0);
    if (created.length === 0) continue;
    await connection.run(created.map(({ table, groups }) => createOfGroups(table, groups)).join(';\n'));
    const planned = await tablesInPlan(connection, sql);
    found = grouped.map(({ table, pieces, groups }) => {
      const left = new Set(groups.filter(({ name }) => planned.has(name)).flatMap((group) => group.pieces));
      return { table, pieces: groups.length > 0 ? pieces.filter((piece) => left.has(piece)) : pieces };
    });
  }
  return found;
}

/** Pieces in the order of their values, put together so that there are at most so many groups; none to tell apart: none. */
function groupsOf({ table, pieces }: NeededPieces, mostGroups: number): readonly PieceGroup[] {
  if (table.pieceColumns.length === 0 || pieces.length < 2) return [];
  const size = Math.max(1, Math.ceil(pieces.length / mostGroups));
  if (size === 1 && Number.isFinite(mostGroups)) return [];
  const sorted = pieces
    .map((piece) => ({ piece, by: piece.values.join('/') }))
    .sort((a, b) => compareKeys(a.by, b.by));
  return Array.from({ length: Math.ceil(pieces.length / size) }, (_, at) => ({
    name: groupName(table, at),
    pieces: sorted.slice(at * size, (at + 1) * size).map(({ piece }) => piece),
  }));
}

async function tablesInPlan(connection: DuckDBConnection, sql: string): Promise<ReadonlySet<string>> {
  try {
    const explained = await connection.runAndReadAll(`EXPLAIN (FORMAT JSON)\n${sql}`);
    const plan = explained.getRowsJson().flat().join('\n');
    const names = plan.matchAll(/"Table": "memory\.pieces\.((?:\\.|[^"\\])+)"/g);
    return new Set([...names].map(([, name = '']) => name));
  } catch (cause) {
    throw queryErrorOf(cause, 1);
  }
}

type LoadOptions = {
  readonly copies: LocalCopies;
  readonly diskBytes: number;
  readonly signal: AbortSignal;
  /** Called before much is read. */
  readonly onReading?: ((words: string) => void) | undefined;
};

/** How many pieces are looked for, and then how many files are fetched or made, at once. */
const AT_ONCE = 4;

/** So much is read in a second or two. */
const MUCH_BYTES = 50_000_000;

/** Brings what a query needs to this machine. Throws `QueryError` of kind `too-large` if there is no room for it. */
export async function loadPieces(
  needed: readonly NeededPieces[],
  { copies, diskBytes, signal, onReading }: LoadOptions,
): Promise<readonly LoadedTable[]> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  const all = <T>(work: readonly (() => Promise<T>)[]) =>
    queue.addAll(
      work.map((each) => async () => {
        signal.throwIfAborted();
        return await each();
      }),
    );
  const each = needed.flatMap(({ table, pieces }) => pieces.map((piece) => ({ table, piece })));
  const found = await all(
    each.map(({ table, piece: { values, files } }) => async () => ({ table, values, files: await files() })),
  );
  const files = found.flatMap((piece) => piece.files.map((file) => ({ ...piece, file })));
  const sum = (name: 'bytes' | 'copiedBytes') => files.reduce((total, { file }) => total + file[name], 0);
  const runs = found.filter((piece) => piece.files.length > 0).length;
  if (sum('bytes') >= MUCH_BYTES)
    onReading?.(`reads ${size(sum('bytes'))} of ${runs} ${runs === 1 ? 'run or day' : 'runs or days'}`);
  await makeRoom(copies, sum('copiedBytes'), diskBytes);
  const opened = await all(
    files.map(({ table, values, file }) => async () => ({ table, values, path: (await file.open())?.path })),
  );
  return needed.map(({ table }) => ({
    table,
    files: opened.flatMap(({ table: of, values, path }) =>
      of === table && path !== undefined ? [{ path, values }] : [],
    ),
  }));
}

/** Deletes the copies of earlier queries if there is too little room beside them. */
async function makeRoom(copies: LocalCopies, neededBytes: number, diskBytes: number): Promise<void> {
  const hasRoom = neededBytes <= diskBytes - copies.sizeBytes();
  if (hasRoom || (neededBytes <= diskBytes && (await copies.clear()))) return;
  throw new QueryError(
    `the query needs ${size(neededBytes)} in the temporary folder, which may have ${size(diskBytes)}: narrow it by dt or run, or allow more`,
    { kind: 'too-large' },
  );
}

const size = (bytes: number) =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
