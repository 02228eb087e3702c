import { createHash, hash, randomUUID } from 'node:crypto';
import { constants, createReadStream, existsSync, renameSync, rmSync } from 'node:fs';
import {
  copyFile,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { once, sleep } from '../base/index.ts';
import { RESERVED_FOLDER } from '../locations.ts';
import { errorCode, StoreError, unlessCode } from './error.ts';
import { checkKey, IGNORE_FILE } from './key.ts';
import { createReserve, isFullDisk } from './reserve.ts';
import type { PutCondition, PutOptions, PutResult } from './store.ts';

const TEMPORARY = `${RESERVED_FOLDER}/temporary`;

type Signal = AbortSignal | undefined;

/**
 * Creates the functions that change a directory store. The bytes are written to a temporary file; then, under the key's
 * lock, the condition is checked and one rename puts the new file in place. So a killed process leaves either the old
 * object or the new object. Unconditional changes take the lock too: otherwise they could happen between another
 * process's check and its rename.
 */
export function createDirectoryWriter(root: string) {
  const temporaryFolder = join(root, TEMPORARY);
  const reserve = createReserve(join(root, RESERVED_FOLDER, 'reserve'));
  const prepare = createPreparation(root, temporaryFolder, reserve);
  const makeRoom = async (key: string) => {
    checkKey(key);
    await prepare();
    await checkRoom(root, key);
  };
  return {
    async put(key: string, body: Uint8Array, options: PutOptions): Promise<PutResult> {
      const { condition, signal, sha256, mayUseReserve } = options;
      await makeRoom(key);
      const putOnce = async () => {
        await using temporary = await writeTemporary(temporaryFolder, body, signal);
        return await install({ root, key, temporary, condition, signal });
      };
      const isStored = await reserve.lend(putOnce, (error) => mayUseReserve === true && isFullDisk(error));
      return isStored
        ? { kind: 'stored', etag: sha256 ?? hash('sha256', body) }
        : { kind: 'condition-failed' };
    },
    async putStream(key: string, pieces: AsyncIterable<Uint8Array>, signal: Signal): Promise<void> {
      await makeRoom(key);
      await using temporary = await writeTemporary(temporaryFolder, pieces, signal);
      await install({ root, key, temporary, condition: undefined, signal });
    },
    async copy(from: string, to: string, signal: Signal): Promise<void> {
      checkKey(from);
      checkKey(to);
      if ((await findOccupant(root, from)).kind !== 'object')
        throw new StoreError(`copy ${from} in ${root}`, { kind: 'missing', what: 'object' });
      await makeRoom(to);
      await using temporary = await linkToTemporary(temporaryFolder, join(root, from));
      await install({ root, key: to, temporary, condition: undefined, signal });
    },
    async delete(key: string, signal: Signal): Promise<void> {
      checkKey(key);
      if ((await findOccupant(root, key)).kind !== 'object') return;
      await prepare();
      await reserve.lend(async () => {
        await using temporary = await writeTemporary(temporaryFolder, Buffer.alloc(0));
        await deleteFile({ root, key, temporary, signal });
      });
    },
  };
}

function createPreparation(
  root: string,
  temporaryFolder: string,
  reserve: ReturnType<typeof createReserve>,
): () => Promise<void> {
  // A sweep only saves space, so its failure does no harm.
  const sweepOnce = once(() => sweepTemporary(temporaryFolder).catch(() => undefined));
  const keepOutOfGitOnce = once(() => keepOutOfGit(root));
  return async () => {
    await keepOutOfGitOnce();
    for (const folder of [TEMPORARY, LOCKS]) await checkOwnFolder(root, folder);
    await sweepOnce();
    await reserve.take();
  };
}

/** Makes git ignore a new store. A folder with other files in it belongs to the user, and is not changed. */
async function keepOutOfGit(root: string): Promise<void> {
  const found = await readdir(root).catch(unlessCode(['ENOENT'], [RESERVED_FOLDER]));
  if (found.length !== 1 || found[0] !== RESERVED_FOLDER) return;
  // The folder may contain customers' texts.
  await makeFolder(root, (path) => mkdir(path, path === root ? { mode: 0o700 } : {}));
  await writeFile(join(root, IGNORE_FILE), '*\n', { flag: 'wx' }).catch(unlessCode(['EEXIST'], undefined));
}

async function deleteFile({ root, key, temporary, signal }: Omit<Installation, 'condition'>): Promise<void> {
  await withLock({ path: lockPath(root, key), file: temporary.path, signal }, async (held) => {
    held.renew();
    rmSync(join(root, key), { force: true });
  });
  await removeEmptyFolders(root, dirname(key));
  await syncFolders(root, dirname(key));
}

type Installation = {
  readonly root: string;
  readonly key: string;
  readonly temporary: TemporaryFile;
  readonly condition: PutCondition | undefined;
  readonly signal: AbortSignal | undefined;
};

/** Moves the temporary file to its key. Returns false if the condition does not hold. */
async function install({ root, key, temporary, condition, signal }: Installation): Promise<boolean> {
  const lock = { path: lockPath(root, key), file: temporary.path, signal };
  const isStored = await withLock(lock, async (held) => {
    await checkRoom(root, key);
    if (condition !== undefined && !(await holds(root, key, condition))) return false;
    await moveInto(join(root, key), held);
    return true;
  });
  if (isStored) await syncFolders(root, dirname(key));
  return isStored;
}

async function holds(root: string, key: string, condition: PutCondition): Promise<boolean> {
  const exists = (await findOccupant(root, key)).kind === 'object';
  if ('ifAbsent' in condition) return !exists;
  return exists && (await hashFile(join(root, key))) === condition.ifMatch;
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function moveInto(to: string, held: HeldLock): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await makeFolder(dirname(to));
    try {
      return held.moveTo(to);
    } catch (error) {
      // Another process may just have removed the folder, after it deleted the folder's last object.
      if (errorCode(error) !== 'ENOENT' || attempt === MOVE_ATTEMPTS) throw error;
    }
  }
}

const MOVE_ATTEMPTS = 10;

// Empty folders are removed, since they would prevent an object of the same name.
async function removeEmptyFolders(root: string, folder: string): Promise<void> {
  if (folder === '.') return;
  const isRemoved = await rmdir(join(root, folder)).then(
    () => true,
    unlessCode(['ENOTEMPTY', 'EEXIST', 'ENOENT'], false),
  );
  if (isRemoved) await removeEmptyFolders(root, dirname(folder));
}

// A rename is on disk only after its folder was synced, and a new folder only after its parent was synced. Windows
// does not sync folders.
async function syncFolders(root: string, folder: string): Promise<void> {
  await using handle = await open(join(root, folder)).catch(unlessCode(['ENOENT'], undefined));
  await handle?.sync().catch(unlessCode(['EPERM'], undefined));
  if (folder !== '.') await syncFolders(root, dirname(folder));
}

/**
 * A file that is complete and on disk, but not yet visible to readers. Disposing of it removes it unless it was
 * moved.
 */
type TemporaryFile = { readonly path: string } & AsyncDisposable;

/** Writes a temporary file in `folder`, and syncs it to disk. */
export const writeTemporary = (
  folder: string,
  body: Uint8Array | AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<TemporaryFile> =>
  createTemporary(folder, async (path) => {
    await using file = await open(path, 'wx', (await modeIn(folder)) & 0o666);
    await file.writeFile(body, signal ? { signal } : {});
    await file.sync();
  });

/**
 * Creates a hard link in `folder` to the file at `source`. That is safe, since files of a store are replaced and never
 * rewritten. If the file system has no hard links, or the file is another user's, creates a copy instead.
 */
const linkToTemporary = (folder: string, source: string): Promise<TemporaryFile> =>
  createTemporary(folder, async (path) => {
    const isLinked = await link(source, path).then(
      () => true,
      () => false,
    );
    // With the old date of the source, the file would count as abandoned.
    if (isLinked) return utimes(path, new Date(), new Date()).catch(unlessCode(['EPERM'], undefined));
    await copyFile(source, path, constants.COPYFILE_EXCL);
    await using file = await open(path, 'r+');
    await file.sync();
  });

/**
 * Removes temporary files that were last written over an hour ago, according to the file system's own clock, which the
 * date of a new file shows.
 */
async function sweepTemporary(folder: string): Promise<void> {
  const paths = (await readdir(folder)).map((name) => join(folder, name));
  await using fresh = await writeTemporary(folder, Buffer.alloc(0));
  const { mtimeMs: nowMs } = await lstat(fresh.path);
  for (const path of paths) {
    const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: nowMs }));
    if (nowMs - mtimeMs > ABANDONED_AFTER_MS)
      await rm(path, { force: true, recursive: true }).catch(() => undefined);
  }
}

const ABANDONED_AFTER_MS = 3_600_000;

async function createTemporary(
  folder: string,
  fill: (path: string) => Promise<void>,
): Promise<TemporaryFile> {
  await makeFolder(folder);
  const path = join(folder, randomUUID());
  const remove = () => rm(path, { force: true });
  try {
    await fill(path);
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, [Symbol.asyncDispose]: remove };
}

/**
 * Finds what a directory store has under a key. It checks the key's segments one by one, so that no link leads out
 * of the store. Throws `key-conflict` at a link, a socket or a device. `below-object`: an object is stored at `at`,
 * a leading part of the key.
 */
export async function findOccupant(
  root: string,
  key: string,
): Promise<
  { readonly kind: 'object' | 'folder' | 'absent' } | { readonly kind: 'below-object'; readonly at: string }
> {
  const segments = key.split('/');
  for (const [index] of segments.entries()) {
    const at = segments.slice(0, index + 1).join('/');
    const kind = await kindAt(root, at);
    if (kind === 'absent' || index === segments.length - 1) return { kind };
    if (kind === 'object') return { kind: 'below-object', at };
  }
  return { kind: 'absent' };
}

/** Throws `key-conflict` unless an object can be stored under the key. */
async function checkRoom(root: string, key: string): Promise<void> {
  const occupant = await findOccupant(root, key);
  if (occupant.kind === 'folder') throw conflict(root, key, `a folder of objects, ${key}/,`);
  if (occupant.kind === 'below-object') throw conflict(root, key, `the object ${occupant.at}`);
}

/** Throws `key-conflict` unless `folder`, which is internal to the store, is a real folder or can be created. */
async function checkOwnFolder(root: string, folder: string): Promise<void> {
  const occupant = await findOccupant(root, folder);
  if (occupant.kind === 'object') throw conflict(root, folder, 'a file');
  if (occupant.kind === 'below-object') throw conflict(root, folder, `the file ${occupant.at}`);
}

async function kindAt(root: string, at: string): Promise<'object' | 'folder' | 'absent'> {
  const stats = await lstat(join(root, at)).catch(unlessCode(['ENOENT', 'ENOTDIR'], undefined));
  if (stats === undefined) return 'absent';
  if (stats.isFile()) return 'object';
  if (stats.isDirectory()) return 'folder';
  throw conflict(root, at, 'a symbolic link or a special file');
}

const conflict = (root: string, key: string, occupant: string): StoreError =>
  new StoreError(`use ${key} in ${root}`, { kind: 'key-conflict', occupant });

type Lock = {
  readonly path: string;
  readonly file: string;
  readonly signal: AbortSignal | undefined;
};

type HeldLock = {
  /** Moves the caller's file out of the lock to `path`. This one step fails if the lock was lost. */
  moveTo(path: string): void;
  /**
   * Renews the lock, so that no other process takes it over for the next seconds. Required before any change but
   * `moveTo`.
   */
  renew(): void;
};

/**
 * Runs `work` while no other process holds the lock at `path`, on this host or on another host that shares the folder.
 *
 * A lock is a folder that holds one file, `NAME.BEAT`. It is taken by moving a folder with the file to `path`, which
 * succeeds only if `path` is missing or an empty folder, and the holder renames the file every second. A process
 * that sees the same name for `STALE_MS` moves exactly that file out. So no clock is compared with another, and a
 * process that was paused finds its file gone: `moveTo` and `renew` throw, and the work starts again. Throws `busy`
 * after `MAX_WAIT_MS`.
 */
export async function withLock<T>(lock: Lock, work: (held: HeldLock) => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + MAX_WAIT_MS;
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

const LOCKS = `${RESERVED_FOLDER}/locks`;

/**
 * The path of the lock for `key` in the store at `root`. Its name is a digest, since a key may be too long for a
 * file name.
 */
export const lockPath = (root: string, key: string): string =>
  join(root, LOCKS, createHash('sha256').update(key).digest('hex'));

const BEAT_MS = 1_000;
const STALE_MS = 3_000;
const MAX_WAIT_MS = 30_000;
const POLL_MS = 10;
const STILL_HELD = { kind: 'busy', code: `still held after ${MAX_WAIT_MS} ms` } as const;

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

/** The error codes for a target that exists. Windows does not move a folder onto another one, not even an empty one. */
const taken = () => ['ENOTEMPTY', 'EEXIST', ...(process.platform === 'win32' ? ['EPERM'] : [])];

/**
 * Creates a function that removes an abandoned lock: after the lock's file has had the same name for `STALE_MS`, it
 * moves the file to `folder`.
 */
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
    } catch {}
  }
  const timer = setInterval(beatOn, BEAT_MS).unref();
  return {
    moveTo,
    renew,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      // Both steps fail, without harm, if the file was moved out; `path` may then be the lock of another holder.
      await rename(at(beat), file).catch(() => undefined);
      await rmdir(path).catch(() => undefined);
    },
  };
}

/** How often creating a folder is tried at most: another process may delete its parent with the last object in it. */
const MAX_ATTEMPTS = 10;

const SET_GROUP = 0o2000;

/**
 * The permissions of files and folders that are created in a folder: only the owner's, since they may contain
 * customers' texts; in a folder with `chmod g+s` also its group's, as far as the umask allows.
 */
async function modeIn(folder: string): Promise<number> {
  return ((await stat(folder)).mode & SET_GROUP) === 0 ? 0o700 : 0o770;
}

/**
 * Creates a folder and its parents. Node's own `recursive` reports ENOENT on a read-only file system, and
 * never returns in `/proc`.
 */
export async function makeFolder(
  folder: string,
  make: (path: string) => Promise<void> = makePrivate,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await make(folder);
    } catch (error) {
      // If a file is there instead of a folder, the error shows when something is stored there.
      if (errorCode(error) === 'EEXIST') return;
      const parent = dirname(folder);
      if (errorCode(error) !== 'ENOENT' || attempt === MAX_ATTEMPTS || parent === folder) throw error;
      await makeFolder(parent, make);
    }
  }
}

async function makePrivate(path: string): Promise<void> {
  await mkdir(path, { mode: await modeIn(dirname(path)) });
}
