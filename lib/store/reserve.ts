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
  return {
    /** Reserves the space if there is plenty, once a process. Never throws. */
    take: once(async (): Promise<void> => {
      try {
        const taken = await readdir(folder).catch(unlessCode(['ENOENT'], []));
        if (taken.length === FILES) return;
        const { bavail, bsize } = await statfs(dirname(folder));
        if (bavail * bsize < MIN_ROOM * FILES * FILE_BYTES) return;
        await mkdir(folder, { recursive: true, mode: 0o700 });
        for (let index = 0; index < FILES; index += 1)
          await writeFile(join(folder, String(index)), Buffer.alloc(FILE_BYTES), { mode: 0o600 });
      } catch {
        // An incomplete reserve would only take space from others.
        await spend().catch(() => undefined);
      }
    }),
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
