import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, lstat, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from './make-folder.ts';

/** A file that is complete and on disk, but not yet visible to readers; disposing removes it unless it was moved. */
export type TemporaryFile = { readonly path: string } & AsyncDisposable;

/** Writes `body` to a new file in `folder`, which is created if it is missing. */
export const writeTemporary = (
  folder: string,
  body: Uint8Array | AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<TemporaryFile> =>
  createTemporary(folder, async (path) => {
    await using file = await open(path, 'wx');
    await file.writeFile(body, signal ? { signal } : {});
    await file.sync();
  });

/** Copies the file at `source`, by reference where the file system can, to a new file in `folder`. */
export const copyToTemporary = (folder: string, source: string): Promise<TemporaryFile> =>
  createTemporary(folder, async (path) => {
    await copyFile(source, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await using file = await open(path, 'r+');
    await file.sync();
  });

/**
 * Removes what killed processes left in `folder`: files not written to for an hour before `nowMs`. A write in
 * progress is younger. Removing them only saves space, so failures are ignored.
 */
export async function sweepTemporary(folder: string, nowMs: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const path of names.map((name) => join(folder, name))) {
    const mtimeMs = await lstat(path).then(
      (stats) => stats.mtimeMs,
      () => nowMs,
    );
    if (nowMs - mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true }).catch(() => undefined);
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
