import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, lstat, open, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessCode } from './error.ts';
import { makeFolder, modeIn } from './make-folder.ts';

/** A file that is complete and on disk, but not yet visible to readers; disposing removes it unless it was moved. */
export type TemporaryFile = { readonly path: string } & AsyncDisposable;

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
 * A second name in `folder` for the file at `source`, which is on disk: no file of a store is ever written again, a new
 * one takes its name. A copy where a file has only one name, or is another user's.
 */
export const linkToTemporary = (folder: string, source: string): Promise<TemporaryFile> =>
  createTemporary(folder, async (path) => {
    const isLinked = await link(source, path).then(
      () => true,
      () => false,
    );
    // An old file would be taken for an abandoned one.
    if (isLinked) return utimes(path, new Date(), new Date()).catch(unlessCode(['EPERM'], undefined));
    await copyFile(source, path, constants.COPYFILE_EXCL);
    await using file = await open(path, 'r+');
    await file.sync();
  });

/** Removes files not written to for an hour by the file system's own clock, which a new file tells. */
export async function sweepTemporary(folder: string): Promise<void> {
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
