import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './error.ts';

/** Another process that deletes the last object of a folder may remove the folder above at any time. */
const MOST_ATTEMPTS = 10;

/** Node's own `recursive` reports ENOENT on a read-only file system, and never returns in `/proc`. */
export async function makeFolder(
  folder: string,
  make: (path: string) => Promise<void> = (path) => mkdir(path),
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await make(folder);
    } catch (error) {
      // A file in the place of the folder shows when something is put into it.
      if (errorCode(error) === 'EEXIST') return;
      const parent = dirname(folder);
      if (errorCode(error) !== 'ENOENT' || attempt === MOST_ATTEMPTS || parent === folder) throw error;
      await makeFolder(parent, make);
    }
  }
}
