import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BUSY, codeOf, IOERR } from './sqlite-failure.ts';

/*
 * Which processes are running: each has a lock that the kernel frees when the process ends, an exclusive
 * transaction on a separate file. Process ids are not enough, since they are reused, and are the same in different
 * containers.
 */

/** How long a process that was seen running counts as running without another check, in milliseconds. */
const SEEN_MS = 500;

/** How many times locking a new file is tried at most: a process that starts at the same time may delete it. */
const MAX_TRIES = 10;

/** Creates the record of which processes are running: each has a locked file in this folder. */
export function createAliveness(folder: string) {
  let own: { readonly name: string; readonly lock: DatabaseSync } | undefined;
  const seenMs = new Map<string, number>();
  const pathOf = (name: string) => join(folder, name);

  const end = () => {
    if (own === undefined) return;
    release(own.lock, pathOf(own.name));
    own = undefined;
  };

  /** Changes no file, since readers call it too. */
  const isAlive = (name: string): boolean => {
    if (name === own?.name) return true;
    if (performance.now() < (seenMs.get(name) ?? 0) + SEEN_MS) return true;
    if (!existsSync(pathOf(name)) || !isLocked(pathOf(name))) return false;
    seenMs.set(name, performance.now());
    return true;
  };

  const begin = () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(folder)) if (!name.includes('-journal')) deleteEnded(pathOf(name));
    for (let tries = 1; ; tries += 1) {
      const name = randomUUID();
      const lock = lockOf(pathOf(name));
      // Before the file is locked, another process may find it and delete it.
      if (lock !== undefined && existsSync(pathOf(name))) return { name, lock };
      if (tries === MAX_TRIES)
        throw Object.assign(new Error(`each new file in ${folder} is locked`), { errcode: BUSY });
    }
  };

  return {
    /** The name of this process. After the first call, other processes see it as running. */
    self(): string {
      own ??= begin();
      return own.name;
    },
    isAlive,
    end,
  };
}

/** Whether a process has the lock on a file: then a read fails. */
function isLocked(path: string): boolean {
  try {
    using reader = new DatabaseSync(path, { timeout: 0, readOnly: true });
    reader.exec('SELECT 1 FROM sqlite_schema');
    return false;
  } catch (error) {
    if (isTaken(error)) return true;
    // A process that has just ended deletes its file.
    if (existsSync(path)) throw error;
    return false;
  }
}

/** Deletes the file of a process that ended, while holding the lock, so that no process that starts uses the file. */
function deleteEnded(path: string): void {
  const lock = lockOf(path);
  if (lock !== undefined) release(lock, path);
}

/**
 * Creates and locks a file; undefined if another process has the lock, or deleted the file before it was locked. Throws
 * any other failure, since a full disk must not look like another process.
 */
function lockOf(path: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    // SQLite reports a file that was deleted after it was opened as a disk I/O error.
    const isDeleted = codeOf(error) === IOERR && !existsSync(path);
    if (!isTaken(error) && !isDeleted) throw error;
    return undefined;
  }
}

const isTaken = (error: unknown): boolean => codeOf(error) === BUSY;

function release(lock: DatabaseSync, path: string): void {
  // Windows cannot delete an open file.
  if (process.platform === 'win32') lock.close();
  try {
    rmSync(path, { force: true });
  } catch {
    // Windows may refuse to delete a file that has just been closed. It has no effect, and the next process deletes it.
  }
  if (lock.isOpen) lock.close();
}
