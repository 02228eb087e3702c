import { existsSync } from 'node:fs';
import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import PQueue from 'p-queue';
import { readAgain } from '../../snapshot/history/index.ts';
import { compareKeys, type Store } from '../../store/index.ts';
import { macros } from '../catalog/macros.ts';
import { viewsOver } from '../catalog/tables.ts';
import { NEEDS_MODEL, type View } from '../catalog/view.ts';
import { comparedStrings, neverEqual } from './compared-values.ts';
import { createExactValue, type ExactValue } from './exact-value.ts';
import { fitTypes } from './fit-types.ts';
import { withHints } from './query-hints.ts';
import { onlyQuery, QueryError, queryErrorOf } from './query-text.ts';
import { columnOf, parseQuery, type QueryTree } from './query-tree.ts';
import {
  createGroupUnion,
  createSchema,
  type DuckDb,
  groupName,
  literal,
  openDatabase,
  PIECES_SCHEMA,
  rowsName,
  withInterrupt,
} from './schema.ts';
import type { createLocalCopies, Piece, Table } from './stored-files.ts';
import { placesWithTables, tablesOf } from './tables.ts';

type LocalCopies = ReturnType<typeof createLocalCopies>;

type QueryContext = {
  readonly store: Store;
  readonly duckDb: DuckDb;
  readonly copies: LocalCopies;
  readonly folder: string;
  readonly memoryMb: number;
  readonly threads: number;
  /** Maximum bytes of all copies. DuckDB's own files on disk may take as much again. */
  readonly diskBytes: number;
  readonly signal: AbortSignal;
  readonly onReading?: ((words: string) => void) | undefined;
  /** Whether to refuse a query that reads anything but tables, such as settings. */
  readonly onlyTables: boolean;
  /** The value of `now()`, in epoch milliseconds. Default: the current time. */
  readonly atMs: number | undefined;
};

/** The result of a query, and what is wrong with the data that it read. */
export type QueryResult = ResultRows & {
  /** What was missing or damaged in the store, so that it is not in the result, in words. */
  readonly faults: readonly string[];
  /** What was damaged in the store but could be read from elsewhere, and what was never published, in words. */
  readonly notes: readonly string[];
};

/** Runs one SELECT to its end. Dispose of the result. Throws the errors of `Tables.query`. */
export async function openQuery(text: string, context: QueryContext): Promise<QueryResult> {
  const sql = onlyQuery(text);
  let found: QueryResult | undefined;
  const read = async () => {
    await found?.[Symbol.asyncDispose]();
    // Try the query without the model first.
    found = await runQuery(sql, context, false).catch((error: unknown) => {
      if (error instanceof QueryError && error.message.includes(NEEDS_MODEL))
        return runQuery(sql, context, true);
      throw error;
    });
    return found;
  };
  for (let reads = 1; ; reads += 1)
    try {
      const result = await readAgain(read, ({ faults }) => faults);
      return reads === 1 ? result : { ...result, notes: [...result.notes, PRUNED_NOTE] };
    } catch (error) {
      if (!(error instanceof FileGoneError) || reads === MAX_TRIES) throw error;
    }
}

/** How many times to run a query at most, if files disappear while they are read. */
const MAX_TRIES = 10;
const PRUNED_NOTE = 'runs were removed while they were read; the result is from the runs that are left';

/** Thrown if a file of a query was deleted while it was read. */
class FileGoneError extends Error {
  override readonly name = 'FileGoneError';
}

/**
 * Throws `FileGoneError` if one of the files no longer exists, which DuckDB reports as forbidden; otherwise throws
 * `cause`.
 */
async function rethrowAsGone(cause: unknown, paths: readonly string[]): Promise<never> {
  for (const path of paths)
    if (!existsSync(path)) throw new FileGoneError(`${path} no longer exists`, { cause });
  throw cause;
}

async function runQuery(text: string, context: QueryContext, hasModel: boolean): Promise<QueryResult> {
  const { store, signal } = context;
  const faults = new Set<string>();
  const notes = new Set<string>();
  const namedColumns = new Set<string>();
  const session = {
    ...context,
    now: () => context.atMs ?? Date.now(),
    report: (fault: string) => void faults.add(fault),
    note: (words: string) => void notes.add(words),
    namesColumn: (column: string) => namedColumns.has(column),
  };
  const places = await placesWithTables(store);
  const tables = tablesOf(session, places);
  const views = viewsOver(places).map(({ withoutModel, ...view }) => ({
    ...view,
    sql: hasModel ? view.sql : (withoutModel ?? view.sql),
  }));
  const { sql, needed, compared, hinted } = await planQuery(text, { tables, views, namedColumns }, context);
  const loaded = await loadPieces(needed, context);
  signal.throwIfAborted();
  const output = `${context.folder}/result.parquet`;
  const database = await openDatabase(context.duckDb, context);
  const paths = loaded.flatMap((table) => table.files.map(({ path }) => path));
  try {
    const result = await withInterrupt(database.connection, signal, async () => {
      await createSchema(database.connection, { tables, views, loaded, atMs: context.atMs }).catch(
        (cause: unknown) => {
          throw queryErrorOf(cause);
        },
      );
      await database.lock([...paths, output]);
      const found = await execute(database, sql, { ...context, output }).catch(hinted);
      for await (const words of neverEqual(compared, database.connection)) notes.add(words);
      return found;
    });
    return { ...result, faults: [...faults], notes: [...notes] };
  } catch (error) {
    database[Symbol.dispose]();
    return await rethrowAsGone(error, paths);
  }
}

/**
 * Finds out which pieces a query reads, in a separate database that cannot read files. Also returns the query to run.
 */
async function planQuery(
  text: string,
  options: {
    readonly tables: readonly Table[];
    readonly views: readonly View[];
    /** Receives the names of the columns that the query mentions. */
    readonly namedColumns: Set<string>;
  },
  context: QueryContext,
) {
  const { tables, views, namedColumns } = options;
  using database = await openDatabase(context.duckDb, context);
  const { connection } = database;
  return await withInterrupt(connection, context.signal, async () => {
    await createSchema(connection, { tables, views, atMs: context.atMs });
    // The tables are empty here, so optimizing by statistics would remove all of them from the plan.
    await connection.run("SET disabled_optimizers = 'statistics_propagation'");
    await connection.run("SET explain_output = 'optimized_only'");
    await database.lock([]);
    const tree = await parseQuery(connection, text);
    if (context.onlyTables) onlyTables(tree);
    for (const node of tree.nodes) namedColumns.add(columnOf(node) ?? '');
    const sql = fitTypes(text, tree, views);
    const hinted = (error: unknown) => {
      throw withHints(error, tree, views);
    };
    const needed = await neededPieces(connection, tables, sql).catch(hinted);
    return { sql, needed, compared: comparedStrings(tree, views), hinted };
  });
}

/** A column of a result; `type` is DuckDB's. */
type ResultColumn = { readonly name: string; readonly type: string };

/** All rows of a result, which DuckDB holds in memory or on disk. */
type ResultRows = AsyncDisposable & {
  readonly columns: readonly ResultColumn[];
  readonly rows: number;
  /** The rows in order, some thousand at a time, each with the values of its columns. */
  readonly batches: () => AsyncGenerator<readonly (readonly ExactValue[])[]>;
  /** The rows one by one; a row is read only when the caller asks for it. */
  readonly each: () => AsyncGenerator<readonly ExactValue[]>;
  /** Writes the rows to a new Parquet file, and returns its path. */
  readonly writeParquet: () => Promise<string>;
};

const RESULT = `${PIECES_SCHEMA}.result`;

/**
 * Runs one SELECT to its end before returning rows. Otherwise, if the query failed while its result is read, DuckDB
 * would end the result without an error, as if it were complete. Disposing of the result closes the database. Throws
 * `QueryError`.
 */
async function execute(
  database: Awaited<ReturnType<typeof openDatabase>>,
  sql: string,
  options: {
    readonly duckDb: DuckDb;
    readonly output: string;
    readonly signal: AbortSignal;
  },
): Promise<ResultRows> {
  const { duckDb, output, signal } = options;
  const { connection } = database;
  const exact = createExactValue(duckDb);
  const { columns, rows } = await runToEnd(connection, sql).catch((cause: unknown) => {
    throw queryErrorOf(cause, 1);
  });

  async function* chunks(): AsyncGenerator<DuckDBDataChunk> {
    const result = await connection.stream(`FROM ${RESULT}`);
    let left = rows;
    for (;;) {
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) break;
      left -= chunk.rowCount;
      signal.throwIfAborted();
      yield chunk;
    }
    if (left !== 0) throw new QueryError(`DuckDB returned ${rows - left} of ${rows} rows`, { kind: 'other' });
  }
  return {
    columns,
    rows,
    async *batches() {
      for await (const chunk of chunks()) yield chunk.getRows().map((row) => row.map(exact));
    },
    async *each() {
      for await (const chunk of chunks())
        for (let row = 0; row < chunk.rowCount; row += 1) {
          signal.throwIfAborted();
          yield chunk.getRowValues(row).map(exact);
        }
    },
    async writeParquet() {
      const copy = `COPY ${RESULT} TO ${literal(output)} (FORMAT parquet, COMPRESSION zstd)`;
      await withInterrupt(connection, signal, () => connection.run(copy));
      return output;
    },
    async [Symbol.asyncDispose]() {
      database[Symbol.dispose]();
    },
  };
}

async function runToEnd(connection: Awaited<ReturnType<typeof openDatabase>>['connection'], sql: string) {
  // CREATE TABLE … AS does not accept these statements unless they are put into a FROM.
  const isShown = /^(?:describe|desc|summarize|show)\b/i.test(sql);
  await connection.run(`CREATE TABLE ${RESULT} AS\n${isShown ? `FROM (\n${sql}\n)` : sql}`);
  const counted = await connection.runAndReadAll(`SELECT count(*) FROM ${RESULT}`);
  const none = await connection.run(`FROM ${RESULT} LIMIT 0`);
  const columns = none
    .columnNames()
    .map((name, at): ResultColumn => ({ name, type: String(none.columnType(at)) }));
  return { columns, rows: Number(counted.getRowsJson()[0]?.[0]) };
}

/** The functions that may be used as tables: those whose rows come only from their arguments, and the schema's macros. */
const ROW_FUNCTIONS = new Set([
  ...['range', 'generate_series', 'unnest', 'repeat', 'repeat_row', 'json_each', 'json_tree'],
  ...macros.map(({ name }) => name),
]);

/** Matches functions that reveal DuckDB's settings, or its environment. */
const SETTINGS = /^(?:current_setting|getenv|duckdb_.*|pragma_.*)$/i;
const CATALOG = /^(?:duckdb|pg|pragma|sqlite)_/i;

/**
 * Refuses a query that reads anything but the tables, by its functions and names. A query that does not parse is left
 * to the planner, which reports it. Throws `QueryError`.
 */
function onlyTables({ nodes, fault }: QueryTree): void {
  if (fault === 'not implemented')
    throw refusal('PIVOT without the values of ON: list them, as in PIVOT … ON status IN (…)');
  for (const { type, function_name: called, function: source, table_name: table } of nodes) {
    if (type === 'TABLE_FUNCTION' && !ROW_FUNCTIONS.has(source?.function_name?.toLowerCase() ?? ''))
      throw refusal(source?.function_name);
    if (type === 'FUNCTION' && called !== undefined && SETTINGS.test(called)) throw refusal(called);
    if (type === 'BASE_TABLE' && table !== undefined && CATALOG.test(table)) throw refusal(table);
  }
}

const refusal = (got = 'another function') =>
  new QueryError(`expected a query that reads only the tables, got ${got}`, { kind: 'sql' });

/** A table that a query reads, and the pieces of the table that the query needs. */
type NeededPieces = { readonly table: Table; readonly pieces: readonly Piece[] };

/** How many groups the first plan may have, since planning takes a third of a millisecond for each. */
const MAX_GROUPS = 64;

/**
 * Finds out which pieces a query needs, before anything is read. DuckDB plans the query over groups of pieces. The
 * groups have no rows, only bounds or constants for the piece columns, so the plan leaves out groups that the query's
 * conditions exclude. This is done first with a few groups of many pieces, and then with one group for each remaining
 * piece. Throws `QueryError` if the SQL is wrong.
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
  for (const maxGroups of [MAX_GROUPS, Number.POSITIVE_INFINITY]) {
    const grouped = found.map((each) => ({ ...each, groups: groupsOf(each, maxGroups) }));
    const created = grouped.filter(({ groups }) => groups.length > 0);
    if (created.length === 0) continue;
    await connection.run(created.map(({ table, groups }) => createGroupUnion(table, groups)).join(';\n'));
    const inPlan = await tablesInPlan(connection, sql);
    found = grouped.map(({ table, pieces, groups }) => {
      const left = new Set(groups.filter(({ name }) => inPlan.has(name)).flatMap((group) => group.pieces));
      return { table, pieces: groups.length > 0 ? pieces.filter((piece) => left.has(piece)) : pieces };
    });
  }
  return found;
}

/**
 * Divides pieces, sorted by their values, into at most `maxGroups` groups. Returns no groups if that would not exclude
 * any piece.
 */
function groupsOf(
  { table, pieces }: NeededPieces,
  maxGroups: number,
): readonly Parameters<typeof createGroupUnion>[1][number][] {
  if (table.pieceColumns.length === 0 || pieces.length < 2) return [];
  const size = Math.max(1, Math.ceil(pieces.length / maxGroups));
  if (size === 1 && Number.isFinite(maxGroups)) return [];
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

/** How many pieces to list, or files to fetch or build, at the same time. */
const PARALLEL_FILES = 4;

/** A read of at least this many bytes is reported, since it takes a second or more. */
const MIN_REPORTED_BYTES = 50_000_000;

/**
 * Copies the files that a query needs to this machine. Throws `QueryError` of kind `too-large` if there is no room for
 * them.
 */
async function loadPieces(
  needed: readonly NeededPieces[],
  options: {
    readonly copies: LocalCopies;
    readonly diskBytes: number;
    readonly signal: AbortSignal;
    /** Called before a large read. */
    readonly onReading?: ((words: string) => void) | undefined;
  },
): Promise<NonNullable<Parameters<typeof createSchema>[1]['loaded']>> {
  const { copies, diskBytes, signal, onReading } = options;
  const queue = new PQueue({ concurrency: PARALLEL_FILES });
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
  if (sum('bytes') >= MIN_REPORTED_BYTES)
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

/** Deletes the copies of earlier queries if there is too little room. Throws `QueryError` if there still is. */
async function makeRoom(copies: LocalCopies, neededBytes: number, diskBytes: number): Promise<void> {
  const hasRoom = neededBytes <= diskBytes - copies.sizeBytes();
  if (hasRoom || (neededBytes <= diskBytes && (await copies.clear()))) return;
  throw new QueryError(
    `the query needs ${size(neededBytes)} in the temporary folder, more than the limit of ${size(diskBytes)}: narrow it by dt or run, or raise the limit`,
    { kind: 'too-large' },
  );
}

const size = (bytes: number) =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
