import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findOccupant } from './directory-occupant.ts';
import { unlessCode } from './error.ts';
import { checkPrefix, compareKeys, isKey } from './key.ts';
import type { ListedObject } from './store.ts';

/** In byte order, with one folder's names in memory and no lock. Files whose names cannot be keys are left out. */
export async function* listDirectory(root: string, prefix: string): AsyncGenerator<ListedObject> {
  if (await mayHold(root, prefix)) yield* walk(root, prefix);
}

/** The folders under `root` whose keys start with `prefix`, without those within them. */
export async function* listFolders(root: string, prefix: string): AsyncGenerator<string> {
  if (!(await mayHold(root, prefix))) return;
  for (const { key, isFolder } of await entriesOf(root, prefix)) if (isFolder) yield key;
}

/** False if the folder of a prefix is none, or lies behind a link. */
async function mayHold(root: string, prefix: string): Promise<boolean> {
  checkPrefix(prefix);
  const folder = folderOf(prefix);
  return folder === '' || (await findOccupant(root, folder.slice(0, -1))).kind === 'folder';
}

const folderOf = (prefix: string) => prefix.slice(0, prefix.lastIndexOf('/') + 1);

async function* walk(root: string, prefix: string): AsyncGenerator<ListedObject> {
  for (const { key, isFolder } of await entriesOf(root, prefix))
    if (isFolder) yield* walk(root, `${key}/`);
    else yield* listOne(root, key);
}

async function entriesOf(root: string, prefix: string) {
  const folder = folderOf(prefix);
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(
    unlessCode<Dirent[]>(['ENOENT'], []),
  );
  return entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => ({ key: folder + entry.name, isFolder: entry.isDirectory() }))
    .filter(({ key }) => key.startsWith(prefix) && isKey(key))
    .sort((a, b) => compareKeys(sortKey(a), sortKey(b)));
}

// The keys in a folder continue with a slash, so "a-b" sorts before the folder "a", and "a0" after it.
const sortKey = ({ key, isFolder }: { readonly key: string; readonly isFolder: boolean }): string =>
  isFolder ? `${key}/` : key;

async function* listOne(root: string, key: string): AsyncGenerator<ListedObject> {
  const stats = await lstat(join(root, key), { bigint: true }).catch(
    unlessCode(['ENOENT', 'ENOTDIR'], undefined),
  );
  if (!stats?.isFile()) return;
  // Each object is a file of its own that was renamed to its key.
  const { size, mtimeNs, ino } = stats;
  yield { key, sizeBytes: Number(size), mark: `${mtimeNs}-${ino}-${size}` };
}
