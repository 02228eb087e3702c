import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { loadPeer } from '../../base/index.ts';

export type DuckDb = typeof import('@duckdb/node-api');

/** Loads DuckDB: 70 MB that only SQL needs. Throws `PeerMissingError`. */
export const loadDuckDb = (load: () => Promise<DuckDb> = () => import('@duckdb/node-api')): Promise<DuckDb> =>
  loadPeer('@duckdb/node-api', load);

/** What a query may use of this machine. */
export type Limits = {
  readonly memoryMb: number;
  readonly threads: number;
  /** Where DuckDB puts what does not fit into memory. */
  readonly folder: string;
  readonly diskBytes: number;
};

/** An open database in memory. */
export type Database = Disposable & {
  readonly connection: DuckDBConnection;
  /** From now on only these files can be read, and no setting can be changed. */
  readonly lock: (files: readonly string[]) => Promise<void>;
};

/** Opens an empty database in memory. It installs and loads no extension; times are in UTC. */
export async function openDatabase(
  { DuckDBInstance }: DuckDb,
  { memoryMb, threads, folder, diskBytes }: Limits,
): Promise<Database> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryMb}MB`,
    threads: String(threads),
    temp_directory: join(folder, 'spilled'),
    max_temp_directory_size: `${Math.max(1, Math.floor(diskBytes / 1e6))}MB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    // A query over a file that changed meanwhile must not see half of what was read before.
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

/** DuckDB ignores an interrupt that comes before it has begun, so it is repeated. */
const REPEAT_MS = 50;

/** Waits for `work`, which runs queries on `connection`; stops them when the signal is aborted, and throws its reason. */
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

/** A text as a literal of SQL. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A name as an identifier of SQL, whatever it contains. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const literals = (texts: readonly string[]): string => `[${texts.map(literal).join(', ')}]`;
