import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { once } from '../base/index.ts';
import { networkOf } from './network-disk.ts';
import { createAliveness } from './sqlite-aliveness.ts';
import { TableError, type TableFailure } from './table-error.ts';

/*
 * One file for the rows, the budget, and the queue of all processes of one host. A process has one connection to it,
 * which every part of it shares: two would wait for each other. Nothing else in the process may open the file, since
 * closing it would drop the locks of SQLite (POSIX: they are the process's, not the descriptor's).
 */

/** A file of SQLite that several processes of one host share. Failures are thrown as `TableError`. */
export type SqliteFile = {
  readonly path: string;
  /** Looks something up; undefined, and nothing is created, if there is no file yet, or an empty one. */
  read<T>(tried: string, look: (db: DatabaseSync) => T): Promise<T | undefined>;
  /** Whole or not at all; creates the file. Changes of one turn share a transaction: none may throw after a write. */
  write<T>(tried: string, change: (db: DatabaseSync, self: string) => T): Promise<T>;
  /** Whether the process of this name, which `write` passes to changes, may still be running. */
  isAlive(process: string): boolean;
  /** Writes everything that was erased over, in the log too. */
  erase(): Promise<void>;
  close(): void;
};

/** How long another process may hold the lock before the table counts as busy. */
const PATIENCE_MS = 5_000;

/** Marks the file as ours: `PSyn` in ASCII. */
const APPLICATION_ID = 0x5053796e;
const VERSION = 1;

/** Below it, a reset of the log can lose writes. */
const LEAST_SQLITE = '3.51.3';

export const SCHEMA = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE rows (pk TEXT, sk TEXT, row TEXT NOT NULL, token TEXT NOT NULL, writer TEXT NOT NULL, expires INTEGER,
    PRIMARY KEY (pk, sk)) WITHOUT ROWID, STRICT;
  CREATE INDEX expiring ON rows (expires) WHERE expires IS NOT NULL;
  CREATE TABLE messages (id TEXT PRIMARY KEY, queue TEXT NOT NULL, body TEXT NOT NULL, sender TEXT NOT NULL,
    sent INTEGER NOT NULL, visible INTEGER NOT NULL, receives INTEGER NOT NULL, receipt TEXT, holder TEXT,
    type TEXT NOT NULL) STRICT;
  CREATE INDEX due ON messages (queue, visible, sent, type);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`;

const files = new Map<string, SqliteFile>();

/** The file at a path: the same for every caller in this process. Opens and creates nothing yet. */
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
};

function createFile(path: string): SqliteFile {
  const aliveness = createAliveness(`${path}-processes`);
  let opened: DatabaseSync | undefined;
  const connected = once(async () => {
    opened = await connect(path);
    return opened;
  });
  let waiting: Waiting[] = [];

  const flush = async () => {
    const given = waiting;
    waiting = [];
    try {
      const db = await connected();
      // A process is known to live before anything says that it holds it.
      aliveness.self();
      for (const settle of await patiently(() => commit(db, given))) settle();
    } catch (error) {
      for (const { tried, fail } of given) fail(asTableError(`${tried} in ${path}`, path, error));
    }
  };

  return {
    path,
    async read(tried, look) {
      try {
        if (opened === undefined && !statSync(path, { throwIfNoEntry: false })?.size) return undefined;
        const db = await connected();
        return await patiently(() => look(db));
      } catch (error) {
        throw asTableError(`${tried} in ${path}`, path, error);
      }
    },
    write: (tried, change) =>
      new Promise((settle, fail) => {
        if (waiting.length === 0) setImmediate(flush);
        const make = (db: DatabaseSync) => {
          const made = change(db, aliveness.self());
          return () => settle(made);
        };
        waiting.push({ tried, make, fail });
      }),
    isAlive: aliveness.isAlive,
    async erase() {
      await this.read('erase', emptyLog);
    },
    close() {
      files.delete(path);
      if (files.size === 0) process.off('exit', closeAll);
      if (opened?.isOpen) opened.close();
      aliveness.end();
    },
  };
}

/** A checkpoint that another process holds up, by reading what the log holds, does not fail: it says so. */
function emptyLog(db: DatabaseSync): void {
  const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
  if (busy !== 0) throw Object.assign(new Error('another process reads it'), { errcode: BUSY });
}

/** All changes in one transaction, or none; returns what tells their callers. */
function commit(db: DatabaseSync, given: readonly Waiting[]): readonly (() => void)[] {
  // From here to the end in one turn: the next one may bring other changes.
  db.exec('BEGIN IMMEDIATE');
  try {
    const settled = given.map(({ make }) => make(db));
    db.exec('COMMIT');
    return settled;
  } catch (error) {
    // A full disk may have ended the transaction already.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Tries until no other process holds the lock, without blocking the event loop, which renews leases. */
async function patiently<T>(work: () => T): Promise<T> {
  const endMs = performance.now() + PATIENCE_MS;
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

async function connect(path: string): Promise<DatabaseSync> {
  refuseOldSqlite();
  await mkdir(dirname(path), { recursive: true });
  const network = await networkOf(dirname(path));
  if (network !== undefined) throw refused(path, LOCAL_DISK, network);
  // SQLite gives the log and the shared memory the mode of the file.
  await open(path, 'wx', 0o600).then(
    (created) => created.close(),
    () => undefined,
  );
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    await patiently(() => prepare(db, path));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Begins a new file, or checks that it is ours; may be repeated while another process does the same. */
function prepare(db: DatabaseSync, path: string): void {
  const number = (name: string) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  const isNew = number('schema_version') === 0;
  if (!isNew && number('application_id') !== APPLICATION_ID)
    throw refused(path, 'a file that platform-sync made', 'one of another program');
  const version = number('user_version');
  if (!isNew && version > VERSION)
    throw refused(path, `version ${VERSION} of the file`, `${version}: a newer platform-sync made it`);
  // The switch ignores any timeout, and fails while another process makes it.
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
  db.exec('PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE');
  try {
    if (number('schema_version') === 0) begin(db);
    const host = factOf(db, 'host');
    const own = 'set SYNC_TABLE=sqlite:FILE to a file of this one';
    if (host !== hostname()) throw refused(path, `this host, ${hostname()}`, `a file of ${host}: ${own}`);
    deleteExpired(db);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

const deleteExpired = (db: DatabaseSync) => db.prepare('DELETE FROM rows WHERE expires < ?').run(Date.now());

function begin(db: DatabaseSync): void {
  db.exec(SCHEMA);
  const insert = db.prepare('INSERT INTO facts (name, value) VALUES (?, ?)');
  insert.run('id', randomUUID());
  insert.run('host', hostname());
}

/** What tells a file from another one in its place; undefined if there is none to read. Writing creates it. */
export const idOf = (file: SqliteFile, by: 'read' | 'write') => file[by]('look at', (db) => factOf(db, 'id'));

const factOf = (db: DatabaseSync, name: string): string | undefined =>
  db.prepare('SELECT value FROM facts WHERE name = ?').get(name)?.['value'] as string | undefined;

/** Throws a `bad-table` TableError for a version of SQLite that may lose writes. */
export function refuseOldSqlite(here = process.versions.sqlite ?? ''): void {
  if (here.localeCompare(LEAST_SQLITE, 'en', { numeric: true }) < 0)
    throw refused('SQLite', `SQLite ${LEAST_SQLITE} or later, which a newer Node brings`, here);
}

const refused = (table: string, expected: string, got: string): TableError =>
  new TableError(`open ${table}`, { kind: 'bad-table', table, expected, got });

// Result codes of SQLite: https://sqlite.org/rescode.html
const BUSY = 5;

const BUSY_CODES = { 5: 'SQLITE_BUSY', 10: 'SQLITE_IOERR', 13: 'SQLITE_FULL', ENOSPC: 'ENOSPC' };
const DENIED_CODES = {
  ...{ 3: 'SQLITE_PERM', 8: 'SQLITE_READONLY', 14: 'SQLITE_CANTOPEN' },
  ...{ EACCES: 'EACCES', EPERM: 'EPERM', EROFS: 'EROFS' },
};
const BAD_CODES = {
  11: 'a damaged one',
  26: 'one that is not SQLite’s',
  ENOTDIR: 'ENOTDIR',
  EEXIST: 'EEXIST',
};

const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined;

function asTableError(tried: string, path: string, error: unknown): TableError {
  if (error instanceof TableError) return error;
  return new TableError(tried, failureOf(path, error), { cause: error });
}

function failureOf(table: string, error: unknown): TableFailure {
  const sqlite = codeOf(error);
  const code = sqlite ?? (error instanceof Error && 'code' in error ? String(error.code) : 'unknown');
  const nameIn = (names: Readonly<Record<string, string>>) => names[code];
  const [busy, denied, got] = [nameIn(BUSY_CODES), nameIn(DENIED_CODES), nameIn(BAD_CODES)];
  if (busy !== undefined) return { kind: 'busy', code: busy };
  if (denied !== undefined) return { kind: 'denied', code: denied };
  if (got !== undefined)
    return { kind: 'bad-table', table, expected: 'a whole SQLite file in a folder', got };
  return { kind: 'other', code: sqlite === undefined ? String(code) : `SQLite ${sqlite}` };
}
