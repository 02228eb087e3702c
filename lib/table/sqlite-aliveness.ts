import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/*
 * A lock that the kernel frees when a process ends: an exclusive transaction on a file of its own. Ids of processes
 * would not do: containers share them, and they are used again.
 */

const SEEN_MS = 500;

/** Which of the processes whose files are in a folder are running. */
export function createAliveness(folder: string) {
  let own: { readonly name: string; readonly lock: DatabaseSync } | undefined;
  const seenMs = new Map<string, number>();
  const pathOf = (name: string) => join(folder, name);

  const end = () => {
    if (own === undefined) return;
    release(own.lock, pathOf(own.name));
    own = undefined;
  };

  const isAlive = (name: string): boolean => {
    if (name === own?.name) return true;
    if (performance.now() < (seenMs.get(name) ?? 0) + SEEN_MS) return true;
    if (!existsSync(pathOf(name))) return false;
    const lock = lockOf(pathOf(name));
    if (lock === undefined) {
      seenMs.set(name, performance.now());
      return true;
    }
    // Deleted while it is locked, so that no process that begins has it.
    release(lock, pathOf(name));
    return false;
  };

  const begin = () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(folder)) if (!name.includes('-journal')) isAlive(name);
    // Another process may find the file before it is locked, and delete it.
    for (;;) {
      const name = randomUUID();
      const lock = lockOf(pathOf(name));
      if (lock !== undefined && existsSync(pathOf(name))) return { name, lock };
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

/** The lock on a file, which is created; undefined if another process has it. */
function lockOf(path: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch {
    lock.close();
    return undefined;
  }
}

function release(lock: DatabaseSync, path: string): void {
  // Windows deletes no open file.
  if (process.platform === 'win32') lock.close();
  try {
    rmSync(path, { force: true });
  } catch {
    // Nor, for a while, one that was open. Without its lock it says nothing, and whoever comes next deletes it.
  }
  if (lock.isOpen) lock.close();
}
