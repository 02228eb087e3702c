import { createHash, hash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { mkdir, open, readdir, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { once } from '../base/index.ts';
import { type HeldLock, LOCKS, lockPath, withLock } from './directory-lock.ts';
import { checkOwnFolder, checkRoom, findOccupant } from './directory-occupant.ts';
import { errorCode, StoreError, unlessCode } from './error.ts';
import { checkKey, IGNORE_FILE, RESERVED_FOLDER } from './key.ts';
import { makeFolder } from './make-folder.ts';
import { createReserve, isFullDisk, type Reserve } from './reserve.ts';
import type { PutCondition, PutOptions, PutResult } from './store.ts';
import { linkToTemporary, sweepTemporary, type TemporaryFile, writeTemporary } from './temporary-file.ts';

const TEMPORARY = `${RESERVED_FOLDER}/temporary`;

type Signal = AbortSignal | undefined;

/**
 * First the bytes are written to disk in a temporary file; then, under the key's lock, the condition is checked, and
 * one rename puts the new file in its place: a killed process leaves the old object or the new one. Unconditional
 * changes take the lock too, or they could happen between another's check and its rename.
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

function createPreparation(root: string, temporaryFolder: string, reserve: Reserve): () => Promise<void> {
  // It only saves space.
  const sweepOnce = once(() => sweepTemporary(temporaryFolder).catch(() => undefined));
  const keepOutOfGitOnce = once(() => keepOutOfGit(root));
  return async () => {
    await keepOutOfGitOnce();
    for (const folder of [TEMPORARY, LOCKS]) await checkOwnFolder(root, folder);
    await sweepOnce();
    await reserve.take();
  };
}

/** Has git ignore a store that is begun here. A folder that holds anything else is somebody's, and stays as it is. */
async function keepOutOfGit(root: string): Promise<void> {
  const found = await readdir(root).catch(unlessCode(['ENOENT'], [RESERVED_FOLDER]));
  if (found.length !== 1 || found[0] !== RESERVED_FOLDER) return;
  // It may hold customers' texts.
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

/** Moves the temporary file to its key; returns false if the condition does not hold. */
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
      // Another process that deleted the folder's last object may just have removed the folder.
      if (errorCode(error) !== 'ENOENT' || attempt === MOVE_ATTEMPTS) throw error;
    }
  }
}

const MOVE_ATTEMPTS = 10;

// An empty folder would prevent an object of the same name.
async function removeEmptyFolders(root: string, folder: string): Promise<void> {
  if (folder === '.') return;
  const isRemoved = await rmdir(join(root, folder)).then(
    () => true,
    unlessCode(['ENOTEMPTY', 'EEXIST', 'ENOENT'], false),
  );
  if (isRemoved) await removeEmptyFolders(root, dirname(folder));
}

// A rename is on disk once its folder is synced, and a new folder once its parent is. Windows syncs none.
async function syncFolders(root: string, folder: string): Promise<void> {
  await using handle = await open(join(root, folder)).catch(unlessCode(['ENOENT'], undefined));
  await handle?.sync().catch(unlessCode(['EPERM'], undefined));
  if (folder !== '.') await syncFolders(root, dirname(folder));
}
