import { accessSync, constants, existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { TableError, type TableFailure } from './table-error.ts';

// Result codes of SQLite: https://sqlite.org/rescode.html
export const BUSY = 5;
export const IOERR = 10;
const FULL = 13;

/** SQLite's names for failures of the operating system, whose own code SQLite does not report. */
const REFUSED_CODES = {
  3: 'SQLITE_PERM',
  8: 'SQLITE_READONLY',
  [IOERR]: 'SQLITE_IOERR',
  14: 'SQLITE_CANTOPEN',
} as const;

const BAD_CODES = {
  11: 'a damaged one',
  26: 'one that is not SQLite’s',
  ENOTDIR: 'ENOTDIR',
  EEXIST: 'EEXIST',
};

const DISK_FAILURES = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EROFS: 'read-only',
  EACCES: 'denied',
  EPERM: 'denied',
} as const;

/** The primary result code of an SQLite error. */
export const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined;

/** Whether SQLite reported a full disk. */
export const isFull = (error: unknown): boolean => codeOf(error) === FULL;

/**
 * The TableError for an error of SQLite. `by`: what failed. After a failed read, the cause is found without a write.
 */
export function asTableError(tried: string, path: string, error: unknown, by: 'read' | 'write'): TableError {
  if (error instanceof TableError) return error;
  return new TableError(`${tried} in ${path}`, failureOf(path, error, by), { cause: error });
}

function failureOf(table: string, error: unknown, by: 'read' | 'write'): TableFailure {
  const sqlite = codeOf(error);
  if (sqlite === undefined) return failureOfCode(table, systemCode(error));
  if (sqlite === BUSY) return { kind: 'busy', code: 'SQLITE_BUSY' };
  if (sqlite === FULL) return { kind: 'full', code: 'SQLITE_FULL' };
  const refused = REFUSED_CODES[sqlite as keyof typeof REFUSED_CODES];
  if (refused === undefined) return failureOfCode(table, String(sqlite), `SQLITE_${sqlite}`);
  const found = (by === 'write' ? diskFault(table) : readableFault(table)) ?? deniedFile(table);
  if (found !== undefined) return found;
  return { kind: sqlite === IOERR ? 'other' : 'denied', code: refused };
}

function failureOfCode(table: string, code: string, name = code): TableFailure {
  const kind = DISK_FAILURES[code as keyof typeof DISK_FAILURES];
  if (kind !== undefined) return { kind, code };
  const got = BAD_CODES[code as keyof typeof BAD_CODES];
  if (got === undefined) return { kind: 'other', code: name };
  return { kind: 'bad-table', table, expected: 'a whole SQLite file in a folder', got };
}

const systemCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown';

/** The bytes that SQLite writes when it opens a file: its log's index, and a page. */
const PROBE_BYTES = 64 * 1_024;

/** Finds out with a test write why nothing can be stored in the folder of the file. */
function diskFault(table: string): TableFailure | undefined {
  const probe = `${table}-probe-${process.pid}`;
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES), { mode: 0o600, flush: true });
    return undefined;
  } catch (error) {
    const code = systemCode(error);
    const kind = DISK_FAILURES[code as keyof typeof DISK_FAILURES];
    return kind && { kind, code };
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Finds out without a write, as far as possible, why nothing can be stored. */
function readableFault(table: string): TableFailure | undefined {
  const folder = dirname(table);
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    if (systemCode(error) === 'EROFS') return { kind: 'read-only', code: 'EROFS' };
  }
  const { bavail, bsize, ffree, files } = statfsSync(folder);
  const hasRoom = bavail * bsize >= PROBE_BYTES && (files === 0 || ffree > 0);
  return hasRoom ? undefined : { kind: 'full', code: 'ENOSPC' };
}

/**
 * The main, log or index file that this process may not write. SQLite creates the log and the index with the mode
 * of the main file; they keep this mode if the main file's mode changes.
 */
function deniedFile(table: string): TableFailure | undefined {
  const file = ['', '-wal', '-shm']
    .map((suffix) => table + suffix)
    .find((path) => existsSync(path) && !mayWrite(path));
  return file === undefined ? undefined : { kind: 'denied', code: 'EACCES', file };
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
