import { createHash } from 'node:crypto';
import { type BigIntStats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lock } from 'proper-lockfile';
import { StoreError } from './error.ts';
import { errorCode } from './error-code.ts';
import { RESERVED_FOLDER } from './key.ts';
import { makeFolder } from './make-folder.ts';

export type HeldLock = {
  /** Runs `act` immediately if the lock is certainly still ours; otherwise the whole work starts again. */
  commit<T>(act: () => T): T;
};

/**
 * Runs `work` while no other process holds the lock at `path`. A killed holder blocks others for about
 * `staleMs` + 1 s, then the lock is taken over. So a holder that was merely paused (a suspended laptop, a blocked
 * event loop) may have lost it without knowing: what must happen only under the lock goes through `commit`, which
 * checks again and acts in one synchronous step. `work` may therefore run more than once.
 * Throws a `busy` StoreError after `patienceMs`.
 */
export async function withLock<T>(
  { path, signal }: { readonly path: string; readonly signal: AbortSignal | undefined },
  work: (held: HeldLock) => Promise<T>,
): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const release = await acquire(path, giveUpAt, signal);
    try {
      return await work({ commit: createCommit(path) });
    } catch (error) {
      if (!(error instanceof LockLost)) throw error;
    } finally {
      // This fails if the lock was lost. At worst it releases the next holder's lock, and that holder starts again.
      await release().catch(() => undefined);
    }
  }
}

/** The folder of the locks. */
export const LOCKS = `${RESERVED_FOLDER}/locks`;

/** The path of the lock for `key` in the store at `root`. A digest: a key may be longer than a file name. */
export const lockPath = (root: string, key: string): string =>
  join(root, LOCKS, createHash('sha256').update(key).digest('hex'));

// The minimum of proper-lockfile, which renews a live lock every second.
const STALE_MS = 2_000;
// Others may take over the lock `staleMs` after its last renewal: nothing is committed in the last part of that time.
const MARGIN_MS = 500;
const PATIENCE_MS = 30_000;
const POLL_MS = 10;

class LockLost extends Error {
  override readonly name = 'LockLost';
}

async function acquire(path: string, giveUpAt: number, signal: AbortSignal | undefined) {
  for (;;) {
    signal?.throwIfAborted();
    await makeFolder(dirname(path));
    const release = await tryLock(path);
    if (release !== undefined) return release;
    if (performance.now() > giveUpAt) {
      throw new StoreError(`wait for the lock ${path}`, {
        kind: 'busy',
        code: `still held after ${PATIENCE_MS} ms`,
      });
    }
    await sleep(POLL_MS);
  }
}

async function tryLock(path: string): Promise<(() => Promise<void>) | undefined> {
  try {
    return await lock(path, {
      lockfilePath: path,
      realpath: false,
      stale: STALE_MS,
      // The default throws from a timer, which would end the process; `commit` detects the loss itself.
      onCompromised: () => undefined,
    });
  } catch (error) {
    // ENOENT: another process considered the lock stale and removed it just after we created it.
    if (errorCode(error) === 'ELOCKED' || errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function createCommit(path: string): HeldLock['commit'] {
  const taken = statOf(path);
  return (act) => {
    const now = statOf(path);
    const isSame = now !== undefined && now.ino === taken?.ino && now.birthtimeNs === taken.birthtimeNs;
    if (!isSame || Date.now() - Number(now.mtimeMs) > STALE_MS - MARGIN_MS)
      throw new LockLost(`lost the lock ${path}`);
    return act();
  };
}

const statOf = (path: string): BigIntStats | undefined =>
  statSync(path, { bigint: true, throwIfNoEntry: false });
