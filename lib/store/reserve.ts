import { mkdir, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { once } from '../base/index.ts';
import { errorCode, unlessCode } from './error.ts';

/*
 * Disk space that is reserved while there is plenty, and released when the disk is full. It is needed to delete
 * objects, which takes a lock and a temporary file, and to store results that were paid for. It consists of several
 * files with several blocks each, since a disk may run out of inodes or of bytes.
 */

/** The number of files in the reserve, and the bytes of each. */
const FILES = 8;
const FILE_BYTES = 16 * 1024;

/** No space is reserved on a disk whose free space is less than this many reserves. */
const MIN_ROOM = 8;

/** Creates a reserve in a separate folder, whose parent exists. */
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
      // An incomplete reserve would only waste space.
      await spend().catch(() => undefined);
      return false;
    }
  };
  return {
    /** Reserves the space if there is plenty, once in a process. Never throws. */
    take: once(async (): Promise<void> => {
      await takeIf(async () => {
        const { bavail, bsize } = await statfs(dirname(folder));
        return bavail * bsize >= MIN_ROOM * FILES * FILE_BYTES;
      });
    }),
    /** Reserves the space if necessary, even if little is free. Returns whether it is reserved. Never throws. */
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

/** Whether an error means that the disk is full, or a quota is reached. */
export const isFullDisk = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');
