import { existsSync } from 'node:fs';
import { readAgain } from '../../snapshot/read-again.ts';
import type { Store } from '../../store/index.ts';
import { NEEDS_MODEL, type View } from '../catalog/view.ts';
import { viewsOver } from '../catalog/views.ts';
import { type DuckDb, openDatabase, withInterrupt } from './database.ts';
import { execute, type ResultRows } from './execute.ts';
import { fitTypes } from './fit-types.ts';
import type { LocalCopies } from './local-copies.ts';
import { loadPieces, type NeededPieces, neededPieces } from './needed-pieces.ts';
import { neverEqual } from './never-equal.ts';
import { onlyTables } from './only-tables.ts';
import { QueryError, queryErrorOf } from './query-error.ts';
import { withHints } from './query-hints.ts';
import { columnOf, parseQuery } from './query-tree.ts';
import { createSchema } from './schema.ts';
import { onlyQuery } from './split-statements.ts';
import type { Table } from './table.ts';
import { placesWithTables, tablesOf } from './tables/tables.ts';

export type QueryContext = {
  readonly store: Store;
  readonly duckDb: DuckDb;
  readonly copies: LocalCopies;
  readonly folder: string;
  readonly memoryMb: number;
  readonly threads: number;
  /** The most bytes of all copies, and of what DuckDB puts on disk. */
  readonly diskBytes: number;
  readonly signal: AbortSignal;
  readonly onReading?: ((words: string) => void) | undefined;
  /** Refuses what reads anything but tables, such as settings. */
  readonly onlyTables: boolean;
};

export type QueryResult = ResultRows & {
  /** What was missing or damaged in the store and is not in the result, in words. */
  readonly faults: readonly string[];
  /** What was damaged in the store, but found elsewhere; what was never published. */
  readonly notes: readonly string[];
};

/** Runs one SELECT to its end. Dispose of the result. Throws what `Tables.query` throws. */
export async function openQuery(text: string, context: QueryContext): Promise<QueryResult> {
  const sql = onlyQuery(text);
  let found: QueryResult | undefined;
  const read = async () => {
    await found?.[Symbol.asyncDispose]();
    // First it is tried whether it does without the model.
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
      return reads === 1 ? result : { ...result, notes: [...result.notes, PRUNED] };
    } catch (error) {
      if (!(error instanceof FileGoneError) || reads === MAX_READS) throw error;
    }
}

/** Each time that files go while they are read, what is left is read again, so often at most. */
const MAX_READS = 10;
const PRUNED = 'runs were removed while they were read: the result is of those that are left';

/** A file of a query was deleted while it was read. */
class FileGoneError extends Error {
  override readonly name = 'FileGoneError';
}

/** What DuckDB says of a file that is gone is as if it were forbidden. */
async function unlessGone(cause: unknown, paths: readonly string[]): Promise<never> {
  for (const path of paths)
    if (!existsSync(path)) throw new FileGoneError(`${path}: expected a file, got none`, { cause });
  throw cause;
}

async function runQuery(text: string, context: QueryContext, hasModel: boolean): Promise<QueryResult> {
  const { store, signal } = context;
  const [faults, notes, asked] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const session = {
    ...context,
    report: (fault: string) => void faults.add(fault),
    note: (words: string) => void notes.add(words),
    asks: (column: string) => asked.has(column),
  };
  const places = await placesWithTables(store);
  const tables = tablesOf(session, places);
  const views = viewsOver(places).map(({ withoutModel, ...view }) => ({
    ...view,
    sql: hasModel ? view.sql : (withoutModel ?? view.sql),
  }));
  const { sql, needed } = await planned(text, { tables, views, asked, note: session.note }, context);
  const loaded = await loadPieces(needed, context);
  signal.throwIfAborted();
  const output = `${context.folder}/result.parquet`;
  const database = await openDatabase(context.duckDb, context);
  const paths = loaded.flatMap((table) => table.files.map(({ path }) => path));
  try {
    const result = await withInterrupt(database.connection, signal, async () => {
      await createSchema(database.connection, tables, views, loaded).catch((cause: unknown) => {
        throw queryErrorOf(cause);
      });
      await database.lock([...paths, output]);
      return await execute(database, sql, { ...context, output });
    });
    return { ...result, faults: [...faults], notes: [...notes] };
  } catch (error) {
    database[Symbol.dispose]();
    return await unlessGone(error, paths);
  }
}

type ToPlan = {
  readonly tables: readonly Table[];
  readonly views: readonly View[];
  /** Gets the names of the columns that the query names. */
  readonly asked: Set<string>;
  readonly note: (words: string) => void;
};

/** Finds out what a query reads, on a database of its own that can read no file; and the query as it is to be run. */
async function planned(
  text: string,
  { tables, views, asked, note }: ToPlan,
  context: QueryContext,
): Promise<{ readonly sql: string; readonly needed: readonly NeededPieces[] }> {
  using database = await openDatabase(context.duckDb, context);
  const { connection } = database;
  return await withInterrupt(connection, context.signal, async () => {
    await createSchema(connection, tables, views);
    // Reasoning by what is in the tables would leave out all of them, since they are empty.
    await connection.run("SET disabled_optimizers = 'statistics_propagation'");
    await connection.run("SET explain_output = 'optimized_only'");
    await database.lock([]);
    const tree = await parseQuery(connection, text);
    if (context.onlyTables) onlyTables(tree);
    for (const node of tree.nodes) asked.add(columnOf(node) ?? '');
    for (const words of neverEqual(tree, views)) note(words);
    const sql = fitTypes(text, tree, views);
    const needed = await neededPieces(connection, tables, sql).catch((error: unknown) => {
      throw withHints(error, tree, views);
    });
    return { sql, needed };
  });
}
