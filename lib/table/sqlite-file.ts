import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { once } from '../base/index.ts';
import { createReserve, makeFolder } from '../store/index.ts';
import { networkOf } from './network-disk.ts';
import { createAliveness } from './sqlite-aliveness.ts';
import { asTableError, BUSY, codeOf, isFull } from './sqlite-failure.ts';
import type { Table } from './table.ts';
import { TableError } from './table-error.ts';

/*
 * One file for the rows, the budget, and the queue of all processes on one host. All parts of a process share one
 * connection: two connections would wait for each other. No other code in the process may open the file, since
 * closing it would release SQLite's locks (in POSIX, locks belong to the process and not to the descriptor).
 */

/** A SQLite file that several processes of one host share. Failures are thrown as `TableError`. */
export type SqliteFile = {
  readonly path: string;
  /** Runs a query. If the file is missing or empty, returns undefined and creates nothing. */
  read<T>(tried: string, look: (db: DatabaseSync) => T): Promise<T | undefined>;
  /**
   * Runs a change, which is stored completely or not at all; creates the file if necessary. `self`: the name of this
   * process. Changes in one turn of the event loop share a transaction, so a change must not throw after its first
   * write.
   */
  write<T>(
    tried: string,
    change: (db: DatabaseSync, self: string) => T,
    options?: Pick<Parameters<Table['put']>[2], 'mayUseReserve' | 'needsReserve'>,
  ): Promise<T>;
  /** Whether the process with this name (see `write`) may still be running. */
  isAlive(process: string): boolean;
  /** Overwrites on disk everything that was deleted, including in the log. */
  erase(): Promise<void>;
  close(): void;
};

/** How long another process may hold the lock before the file counts as busy, in milliseconds. */
const MAX_LOCKED_MS = 5_000;

/** Marks the file as ours: `PSyn` in ASCII. */
const APPLICATION_ID = 0x5053796e;
const VERSION = 1;

/** The minimum version of SQLite: below it, resetting the log can lose writes. */
const MIN_SQLITE = '3.51.3';

/** The SQL that creates the tables of a new file. */
export const SCHEMA = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE rows (pk TEXT, sk TEXT, row TEXT NOT NULL, token TEXT NOT NULL, writer TEXT NOT NULL,
    PRIMARY KEY (pk, sk)) WITHOUT ROWID, STRICT;
  CREATE TABLE messages (id TEXT PRIMARY KEY, queue TEXT NOT NULL, body TEXT NOT NULL, sender TEXT NOT NULL,
    sent INTEGER NOT NULL, visible INTEGER NOT NULL, hidden INTEGER NOT NULL, receives INTEGER NOT NULL,
    receipt TEXT, holder TEXT, type TEXT NOT NULL) STRICT;
  CREATE INDEX due ON messages (queue, type, visible, sent);
  CREATE INDEX hidden ON messages (queue, hidden);
  CREATE INDEX received ON messages (queue, receives);
  CREATE INDEX held ON messages (queue, holder) WHERE holder IS NOT NULL;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`;

const files = new Map<string, SqliteFile>();

/** The SQLite file at a path: the same object for every caller in this process. Opens and creates nothing yet. */
export function sqliteFile(given: string): SqliteFile {
  const path = resolve(given);
  if (files.size === 0) process.once('exit', closeAll);
  const file = files.get(path) ?? createFile(path);
  files.set(path, file);
  return file;
}

function closeAll(): void {
  for (const file of files.values()) file.close();
}

type Waiting = {
  readonly tried: string;
  readonly make: (db: DatabaseSync) => () => void;
  readonly fail: (error: TableError) => void;
  readonly mayUseReserve: boolean;
  readonly needsReserve: boolean;
};

function createFile(path: string): SqliteFile {
  const aliveness = createAliveness(`${path}-processes`);
  const connections = createConnections(path);
  const reserve = createReserve(`${path}-reserve`);
  let waiting: Waiting[] = [];

  const flush = async () => {
    const given = waiting;
    waiting = [];
    try {
      const db = await connections.toWrite();
      await reserve.take();
      const admitted = await withRoom(reserve, path, given);
      // Other processes must see this process as running before any row has its name.
      aliveness.self();
      for (const settle of await commitWith(reserve, db, admitted)) settle();
    } catch (error) {
      for (const { tried, fail } of given) fail(asTableError(tried, path, error, 'write'));
    }
  };

  return {
    path,
    async read(tried, look) {
      try {
        if (!(await connections.toRead())) return undefined;
        return await patiently(() => connections.look(look));
      } catch (error) {
        throw asTableError(tried, path, error, 'read');
      }
    },
    write: (tried, change, { mayUseReserve = false, needsReserve = false } = {}) =>
      new Promise((settle, fail) => {
        if (waiting.length === 0) setImmediate(flush);
        const make = (db: DatabaseSync) => {
          const made = change(db, aliveness.self());
          return () => settle(made);
        };
        waiting.push({ tried, make, fail, mayUseReserve, needsReserve });
      }),
    isAlive: aliveness.isAlive,
    async erase() {
      if (sizeOf(path) === 0) return;
      try {
        const db = await connections.toWrite();
        await patiently(() => emptyLog(db));
      } catch (error) {
        throw asTableError('erase', path, error, 'write');
      }
    },
    close() {
      files.delete(path);
      if (files.size === 0) process.off('exit', closeAll);
      connections.close();
      aliveness.end();
    },
  };
}

/** Opens a connection for reading. The first write opens one for writing, which from then on is used for both. */
function createConnections(path: string) {
  let reader: DatabaseSync | undefined;
  let writer: DatabaseSync | undefined;
  const openToRead = once(async () => {
    reader = await connect(path, 'read');
  });
  return {
    toWrite: once(async () => {
      const opened = await connect(path, 'write');
      writer = opened;
      reader?.close();
      return opened;
    }),
    /** Opens the file for reading; false if there is nothing to read. */
    async toRead(): Promise<boolean> {
      if (writer !== undefined) return true;
      if (sizeOf(path) === 0) return false;
      await openToRead();
      return true;
    },
    /** Runs a query; undefined if the file has no tables yet. */
    look<T>(at: (db: DatabaseSync) => T): T | undefined {
      const db = writer ?? reader;
      return db === undefined || isBlank(db) ? undefined : at(db);
    },
    close() {
      for (const each of [reader, writer]) if (each?.isOpen) each.close();
    },
  };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Whether the file has no tables yet: a process may have been killed while it created the file. */
const isBlank = (db: DatabaseSync): boolean => numberOf(db, 'schema_version') === 0;

const numberOf = (db: DatabaseSync, name: string): number =>
  Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]);

/**
 * Moves the log's content into the file. If another process is reading the log, SQLite does not throw, but returns
 * a row with `busy`.
 */
function emptyLog(db: DatabaseSync): void {
  const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
  if (busy !== 0) throw Object.assign(new Error('another process reads it'), { errcode: BUSY });
}

/** Applies all changes in one transaction, or none; returns the callbacks that report the outcome to their callers. */
function commit(db: DatabaseSync, given: readonly Waiting[]): readonly (() => void)[] {
  // All of this happens in one turn of the event loop, so no other change joins the transaction.
  db.exec('BEGIN IMMEDIATE');
  try {
    const settled = given.map(({ make }) => make(db));
    db.exec('COMMIT');
    return settled;
  } catch (error) {
    // If the disk is full, SQLite may already have ended the transaction.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** The writes that may be made. If the reserve is missing, fails the writes that need it. */
async function withRoom(
  reserve: ReturnType<typeof createReserve>,
  path: string,
  given: readonly Waiting[],
): Promise<readonly Waiting[]> {
  const needing = given.filter(({ needsReserve }) => needsReserve);
  if (needing.length === 0 || (await reserve.isTaken())) return given;
  const full = Object.assign(new Error('no room for the result of a paid request'), { code: 'ENOSPC' });
  for (const { tried, fail } of needing) fail(asTableError(tried, path, full, 'write'));
  return given.filter(({ needsReserve }) => !needsReserve);
}

function commitWith(reserve: ReturnType<typeof createReserve>, db: DatabaseSync, given: readonly Waiting[]) {
  const mayLend = given.some(({ mayUseReserve }) => mayUseReserve);
  return reserve.lend(
    () => patiently(() => commit(db, given)),
    (error) => mayLend && isFull(error),
  );
}

/** Retries until no other process holds the lock. The waits let the event loop renew leases. */
async function patiently<T>(work: () => T): Promise<T> {
  const endMs = performance.now() + MAX_LOCKED_MS;
  for (let waitMs = 1; ; waitMs = Math.min(25, waitMs * 2)) {
    try {
      return work();
    } catch (error) {
      if (codeOf(error) !== BUSY || performance.now() > endMs) throw error;
    }
    await delay(waitMs * (0.5 + Math.random()));
  }
}

const LOCAL_DISK =
  'a disk of this machine: set SYNC_TABLE=sqlite:FILE to a file on one, which other hosts do not share';

/**
 * Opens a connection. A connection for writing creates the file. A connection for reading changes no file, and leaves
 * the log of a killed process in place.
 */
async function connect(path: string, by: 'read' | 'write'): Promise<DatabaseSync> {
  refuseOldSqlite();
  if (by === 'write') await makeFolder(dirname(path));
  const network = await networkOf(dirname(path));
  if (network !== undefined) throw refused(path, LOCAL_DISK, network);
  if (by === 'write') await create(path);
  // If a log exists, the connection is read-only: with write access, it would empty the log when it closes as
  // the last one. Otherwise it has write access, since a read-only connection would leave a log behind.
  const readOnly = by === 'read' && sizeOf(`${path}-wal`) > 0;
  const db = new DatabaseSync(path, { timeout: 0, readOnly });
  try {
    await patiently(() => {
      checkOurs(db, path);
      if (by === 'write') prepare(db);
    });
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Creates the file with its mode, which SQLite also gives the log and the shared memory. */
const create = (path: string): Promise<void> =>
  open(path, 'wx', 0o600).then(
    (created) => created.close(),
    (error: unknown) => {
      if (!existsSync(path)) throw error;
    },
  );

/** Throws a `bad-table` TableError if the file belongs to another program, or to a newer version. */
function checkOurs(db: DatabaseSync, path: string): void {
  if (isBlank(db)) return;
  if (numberOf(db, 'application_id') !== APPLICATION_ID)
    throw refused(path, 'a file that platform-sync created', 'a file of another program');
  const version = numberOf(db, 'user_version');
  if (version > VERSION)
    throw refused(path, `version ${VERSION} of the file`, `${version}: a newer platform-sync created it`);
}

/** Sets up a new file. May be repeated, also while another process does the same. */
function prepare(db: DatabaseSync): void {
  // This ignores any timeout, and fails while another process changes the journal mode.
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
  db.exec('PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE');
  try {
    if (isBlank(db)) begin(db);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function begin(db: DatabaseSync): void {
  db.exec(SCHEMA);
  db.prepare("INSERT INTO facts (name, value) VALUES ('id', ?)").run(randomUUID());
}

/**
 * The id that distinguishes a file from another file at the same path; undefined if there is no file to read. With
 * `write`, the file is created if necessary.
 */
export const idOf = (file: SqliteFile, by: 'read' | 'write') =>
  file[by]('read the id', (db) => factOf(db, 'id'));

const factOf = (db: DatabaseSync, name: string): string | undefined =>
  db.prepare('SELECT value FROM facts WHERE name = ?').get(name)?.['value'] as string | undefined;

/** Throws a `bad-table` TableError for a version of SQLite that may lose writes. */
export function refuseOldSqlite(here = process.versions.sqlite ?? ''): void {
  if (here.localeCompare(MIN_SQLITE, 'en', { numeric: true }) < 0)
    throw refused('SQLite', `SQLite ${MIN_SQLITE} or later, which a newer Node includes`, here);
}

const refused = (table: string, expected: string, got: string): TableError =>
  new TableError(`open ${table}`, { kind: 'bad-table', table, expected, got });
