import { createHash } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { mkdir, readdir, rename, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sleep } from '../base/index.ts';
import { errorCode, StoreError, unlessCode } from './error.ts';
import { RESERVED_FOLDER } from './key.ts';
import { makeFolder } from './make-folder.ts';

type Lock = {
  readonly path: string;
  readonly file: string;
  readonly signal: AbortSignal | undefined;
};

export type HeldLock = {
  /** Moves the caller's file out of the lock to `path`, in one step that fails if the lock was lost. */
  moveTo(path: string): void;
  /** Makes sure of the lock: nobody takes it over for the next seconds. For an act that is no move of the file. */
  renew(): void;
};

/**
 * Runs `work` while no other process holds the lock at `path`, on this host or another one that shares the folder.
 *
 * A lock is a folder that holds one file, `NAME.BEAT`. It is taken by moving a folder with the file to `path`, which
 * succeeds only if there is none or an empty one, and the holder renames the file every second. Who has seen one and
 * the same name for `STALE_MS` moves exactly that file out. So no clock is compared with another, and whoever was
 * paused finds its file gone: `moveTo` and `renew` throw, and the work starts again. Throws `busy` after `PATIENCE_MS`.
 */
export async function withLock<T>(lock: Lock, work: (held: HeldLock) => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    await acquire(lock, giveUpAt);
    await using held = hold(lock);
    try {
      return await work(held);
    } catch (error) {
      if (!(error instanceof LockLost)) throw error;
    }
  }
}

export const LOCKS = `${RESERVED_FOLDER}/locks`;

/** The path of the lock for `key` in the store at `root`. A digest: a key may be longer than a file name. */
export const lockPath = (root: string, key: string): string =>
  join(root, LOCKS, createHash('sha256').update(key).digest('hex'));

const BEAT_MS = 1_000;
const STALE_MS = 3_000;
const PATIENCE_MS = 30_000;
const POLL_MS = 10;
const STILL_HELD = { kind: 'busy', code: `still held after ${PATIENCE_MS} ms` } as const;

class LockLost extends Error {
  override readonly name = 'LockLost';
}

async function acquire({ path, file, signal }: Lock, giveUpAt: number): Promise<void> {
  const folder = `${file}.lock`;
  const first = join(folder, `${basename(file)}.0`);
  const removeStale = createWatch(path, dirname(file));
  await mkdir(folder);
  await rename(file, first);
  try {
    for (;;) {
      signal?.throwIfAborted();
      if (performance.now() > giveUpAt) throw new StoreError(`wait for the lock ${path}`, STILL_HELD);
      await makeFolder(dirname(path));
      if (await rename(folder, path).then(() => true, unlessCode(taken(), false))) return;
      await removeStale();
      await sleep(POLL_MS, signal);
    }
  } catch (error) {
    await rename(first, file);
    await rmdir(folder);
    throw error;
  }
}

/** Windows moves no folder to where one is, even an empty one. */
const taken = () => ['ENOTEMPTY', 'EEXIST', ...(process.platform === 'win32' ? ['EPERM'] : [])];

/** Moves the file in the lock to `folder`, as it was called there, once it has had the same name for `STALE_MS`. */
function createWatch(path: string, folder: string): () => Promise<void> {
  let seen: { readonly name: string | undefined; readonly sinceMs: number } | undefined;
  return async () => {
    const askedMs = performance.now();
    const [name] = await readdir(path).catch(unlessCode<string[]>(['ENOENT'], []));
    if (name === undefined) await rmdir(path).catch(() => undefined);
    if (seen === undefined || name !== seen.name) seen = { name, sinceMs: performance.now() };
    else if (name !== undefined && askedMs - seen.sinceMs > STALE_MS)
      await rename(join(path, name), join(folder, name.replace(/\.\d+$/, ''))).catch(
        unlessCode(['ENOENT'], undefined),
      );
  };
}

function hold({ path, file }: Lock): HeldLock & AsyncDisposable {
  let beat = 0;
  const at = (number: number) => join(path, `${basename(file)}.${number}`);
  function moveTo(to: string): void {
    try {
      renameSync(at(beat), to);
    } catch (error) {
      const isLost = errorCode(error) === 'ENOENT' && !existsSync(at(beat));
      throw isLost ? new LockLost(`lost the lock ${path}`) : error;
    }
  }
  function renew(): void {
    moveTo(at(beat + 1));
    beat += 1;
  }
  function beatOn(): void {
    try {
      renew();
    } catch {
      // It shows when the lock is used.
    }
  }
  const timer = setInterval(beatOn, BEAT_MS).unref();
  return {
    moveTo,
    renew,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      // Both fail where the file was moved out and another holder's lock may be there.
      await rename(at(beat), file).catch(() => undefined);
      await rmdir(path).catch(() => undefined);
    },
  };
}
