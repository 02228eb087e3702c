import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './error.ts';

/** Another process that deletes the last object of a folder may remove the folder above at any time. */
const MOST_ATTEMPTS = 10;

const SET_GROUP = 0o2000;

/**
 * Who may use what is made in a folder: its owner, since it may hold customers' texts; its group too in a folder whose
 * files are the group's (`chmod g+s`), as far as the umask lets it.
 */
export async function modeIn(folder: string): Promise<number> {
  return ((await stat(folder)).mode & SET_GROUP) === 0 ? 0o700 : 0o770;
}

/** Node's own `recursive` reports ENOENT on a read-only file system, and never returns in `/proc`. */
export async function makeFolder(
  folder: string,
  make: (path: string) => Promise<void> = makePrivate,
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

async function makePrivate(path: string): Promise<void> {
  await mkdir(path, { mode: await modeIn(dirname(path)) });
}
