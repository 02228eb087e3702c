import { mkdir, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createTemporaryFolder } from '../../locations.ts';
import type { Store } from '../../store/index.ts';
import { viewsOver } from '../catalog/tables.ts';
import type { View } from '../catalog/view.ts';
import { duckDbType } from '../parquet/hive-type.ts';
import type { ExactValue } from './exact-value.ts';
import { openQuery, type QueryResult } from './open-query.ts';
import { QueryError } from './query-text.ts';
import { type DuckDb, loadDuckDb } from './schema.ts';
import { createLocalCopies } from './stored-files.ts';
import { placesWithTables } from './tables.ts';

type QueryOptions = {
  /** An abort stops the query, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The time limit in seconds, after which the query throws `QueryError` of kind `too-long`. Default: no limit. */
  readonly seconds?: number | undefined;
  /** Called before a large read, with a description of it: `reads 1.2 GB of 30 runs or days`. */
  readonly onReading?: ((words: string) => void) | undefined;
};

type FirstOptions = QueryOptions & {
  readonly maxRows: number;
  /** If it returns false for a row, this row and all later ones are left out. Default: all rows are accepted. */
  readonly accepts?: ((row: readonly ExactValue[]) => boolean) | undefined;
};

/** The first rows of a result. `rows`: the number of all rows. */
export type FirstRows = Pick<QueryResult, 'columns' | 'faults' | 'notes' | 'rows'> & {
  readonly first: readonly (readonly ExactValue[])[];
};

/** A table for a listing, with DuckDB's types. */
export type TableInfo = Pick<View, 'name' | 'about'> & {
  readonly columns: readonly (QueryResult['columns'][number] & { readonly about: string })[];
};

/** SQL over a store. Several queries may run at the same time. */
export type Tables = AsyncDisposable & {
  /**
   * Runs one SELECT. Dispose of the result, which also reports what is missing or damaged. Throws `QueryError` or
   * `StoreError`.
   */
  readonly query: (sql: string, options?: QueryOptions) => Promise<QueryResult>;
  /** Runs one SELECT, and returns at most `maxRows` of its rows. */
  readonly run: (sql: string, options: FirstOptions) => Promise<FirstRows>;
  readonly list: () => Promise<readonly TableInfo[]>;
};

const DEFAULT_MEMORY_MB = 1_000;
const DEFAULT_DISK_BYTES = 20_000_000_000;
const MAX_THREADS = 8;

/**
 * Opens SQL over a store, with a temporary folder, which is removed on disposal. Throws `PeerMissingError`, and
 * `SettingsError` if the folder cannot be created.
 */
export async function openTables(
  store: Store,
  options: {
    /** Memory for DuckDB in MB. Default: 1,000. */
    readonly memoryMb?: number | undefined;
    /**
     * Maximum bytes of copies in the temporary folder. Data that does not fit into memory may take as much again.
     * Default: 20 GB.
     */
    readonly diskBytes?: number | undefined;
    /**
     * Whether to refuse a query that reads anything but tables, such as settings, because the user did not write it.
     * Default: false.
     */
    readonly onlyTables?: boolean;
    /**
     * For a store as of an earlier moment, in epoch milliseconds: the time that `now()` and `current_date` return.
     * Default: the current time.
     */
    readonly atMs?: number | undefined;
    /** The folder in which the temporary folder is created. Default: the system's. */
    readonly temporary?: string;
    readonly load?: () => Promise<DuckDb>;
  } = {},
): Promise<Tables> {
  const { memoryMb = DEFAULT_MEMORY_MB, diskBytes = DEFAULT_DISK_BYTES, onlyTables = false, atMs } = options;
  const duckDb = await loadDuckDb(options.load);
  const path = await createTemporaryFolder('query', options.temporary);
  const copied = join(path, 'copies');
  await mkdir(copied);
  const threads = Math.min(MAX_THREADS, availableParallelism());
  const shared = {
    store,
    duckDb,
    copies: createLocalCopies(copied),
    memoryMb,
    diskBytes,
    threads,
    onlyTables,
    atMs,
  };
  let queries = 0;

  async function query(sql: string, { signal, seconds, onReading }: QueryOptions = {}): Promise<QueryResult> {
    await using opened = new AsyncDisposableStack();
    queries += 1;
    const folder = join(path, `query-${queries}`);
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    await mkdir(folder);
    opened.use(shared.copies.use());
    const over = new AbortController();
    const timer =
      seconds === undefined ? undefined : setTimeout(() => over.abort(tooLong(seconds)), seconds * 1_000);
    opened.defer(() => clearTimeout(timer));
    const stop = AbortSignal.any([over.signal, ...(signal === undefined ? [] : [signal])]);
    const result = await openQuery(sql, { ...shared, folder, signal: stop, onReading });
    opened.use(result);
    const kept = opened.move();
    return { ...result, [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose]() };
  }
  return {
    query,
    async run(sql, { maxRows, accepts, ...rest }) {
      await using result = await query(sql, rest);
      const { columns, rows, faults, notes } = result;
      return { columns, rows, faults, notes, first: await firstOf(result, { maxRows, accepts }) };
    },
    list: async () => viewsOver(await placesWithTables(store)).map(listed),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

const tooLong = (seconds: number) =>
  new QueryError(`the query took longer than ${seconds} s and was stopped`, { kind: 'too-long', seconds });

const listed = ({ name, about, columns }: View): TableInfo => ({
  name,
  about,
  columns: Object.entries(columns).map(([column, { type, about: meaning }]) => ({
    name: column,
    type: duckDbType(type),
    about: meaning,
  })),
});

async function firstOf(
  result: QueryResult,
  { maxRows, accepts = () => true }: Pick<FirstOptions, 'maxRows' | 'accepts'>,
): Promise<readonly (readonly ExactValue[])[]> {
  const first: (readonly ExactValue[])[] = [];
  if (maxRows === 0) return first;
  for await (const row of result.each()) {
    if (!accepts(row)) break;
    first.push(row);
    if (first.length >= maxRows) break;
  }
  return first;
}
