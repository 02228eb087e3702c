import { mkdir, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { once } from '../base/index.ts';
import { errorCode, unlessCode } from './error.ts';

/*
 * Space that is reserved while there is plenty, and released when the disk is full. It is used to free more
 * space, since deleting needs a lock and a mark, and to store results that were paid for. It consists of
 * files of several blocks, since both inodes and bytes run out.
 */

const FILES = 8;
const FILE_BYTES = 16 * 1024;

/** A disk with fewer free reserves than this has no room for one. */
const MIN_ROOM = 8;

/** Creates a reserve in a folder of its own, whose parent exists. */
export function createReserve(folder: string) {
  const spend = () => rm(folder, { force: true, recursive: true });
  const takeIf = async (hasRoom: () => Promise<boolean>): Promise<boolean> => {
    try {
      const taken = await readdir(folder).catch(unlessCode(['ENOENT'], []));
      if (taken.length === FILES) return true;
      if (!(await hasRoom())) return false;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (let index = 0; index < FILES; index += 1)
        await writeFile(join(folder, String(index)), Buffer.alloc(FILE_BYTES), { mode: 0o600 });
      return true;
    } catch {
      // An incomplete reserve would only take space from others.
      await spend().catch(() => undefined);
      return false;
    }
  };
  return {
    /** Reserves the space if there is plenty, once a process. Never throws. */
    take: once(async (): Promise<void> => {
      await takeIf(async () => {
        const { bavail, bsize } = await statfs(dirname(folder));
        return bavail * bsize >= MIN_ROOM * FILES * FILE_BYTES;
      });
    }),
    /** Whether the space is reserved. Reserves it if it is not, however little else is free. Never throws. */
    isTaken: (): Promise<boolean> => takeIf(async () => true),
    /** Runs `work`; if the disk is full, runs it once more with the reserved space released. */
    async lend<T>(work: () => Promise<T>, isFull: (error: unknown) => boolean = isFullDisk): Promise<T> {
      try {
        return await work();
      } catch (error) {
        if (!isFull(error)) throw error;
        await spend();
        return await work();
      }
    },
  };
}

export const isFullDisk = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');
