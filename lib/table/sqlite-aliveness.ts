import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BUSY, codeOf } from './sqlite-failure.ts';

/*
 * A lock that the kernel frees when a process ends: an exclusive transaction on a file of its own. Process ids would
 * not do: containers share them, and they are reused.
 */

const SEEN_MS = 500;

/** Two processes that start may collide at a new file, each with its own name: never this often in a row. */
const MAX_TRIES = 10;

/** Which processes with a file in this folder are running. */
export function createAliveness(folder: string) {
  let own: { readonly name: string; readonly lock: DatabaseSync } | undefined;
  const seenMs = new Map<string, number>();
  const pathOf = (name: string) => join(folder, name);

  const end = () => {
    if (own === undefined) return;
    release(own.lock, pathOf(own.name));
    own = undefined;
  };

  /** Changes no file: readers call it too. */
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
      // Another process may find the file before it is locked, and delete it.
      if (lock !== undefined && existsSync(pathOf(name))) return { name, lock };
      if (tries === MAX_TRIES)
        throw Object.assign(new Error(`each new file in ${folder} is locked`), { errcode: BUSY });
    }
  };

  return {
    /** The name of this process. From the first call on, others see it running. */
    self(): string {
      own ??= begin();
      return own.name;
    },
    isAlive,
    end,
  };
}

/** Whether a process has the lock on a file, by asking to read it. */
function isLocked(path: string): boolean {
  try {
    using asking = new DatabaseSync(path, { timeout: 0, readOnly: true });
    asking.exec('SELECT 1 FROM sqlite_schema');
    return false;
  } catch (error) {
    // A process that has just ended deletes its own file.
    if (isTaken(error)) return true;
    if (existsSync(path)) throw error;
    return false;
  }
}

/** Deleted while it is locked, so that no process that starts gets it. */
function deleteEnded(path: string): void {
  const lock = lockOf(path);
  if (lock !== undefined) release(lock, path);
}

/**
 * Locks a file, which is created; undefined if another process has the lock. Throws any other failure: a full disk is
 * not another process.
 */
function lockOf(path: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (!isTaken(error)) throw error;
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
    // Nor, for a while, one that was open. Without its lock it means nothing, and the next process deletes it.
  }
  if (lock.isOpen) lock.close();
}
