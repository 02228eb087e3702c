import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findOccupant } from './directory-occupant.ts';
import { unlessCode } from './error-code.ts';
import { compareKeys, isKey } from './key.ts';
import type { ListedObject } from './store.ts';

/**
 * The objects under `root` whose keys start with `prefix`, in byte order. Holds the names of only one folder in memory
 * at a time, and no lock: an object written or deleted in the meantime may be listed or not. Files whose names cannot
 * be keys are left out.
 */
export async function* listDirectory(root: string, prefix: string): AsyncGenerator<ListedObject> {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const place = folder === '' ? undefined : await findOccupant(root, folder.slice(0, -1));
  if (place === undefined || place.kind === 'folder') yield* walk(root, folder, prefix);
}

/** The folders under `root` whose keys start with `prefix`, without those within them. */
export async function* listFolders(root: string, prefix: string): AsyncGenerator<string> {
  const parent = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const place = parent === '' ? undefined : await findOccupant(root, parent.slice(0, -1));
  if (place !== undefined && place.kind !== 'folder') return;
  for (const { name, isFolder } of await readFolder(join(root, parent))) {
    const key = parent + name;
    if (isFolder && key.startsWith(prefix) && isKey(key)) yield key;
  }
}

async function* walk(root: string, folder: string, prefix: string): AsyncGenerator<ListedObject> {
  for (const { name, isFolder } of await readFolder(join(root, folder))) {
    const key = folder + name;
    if (!key.startsWith(prefix) && !(isFolder && `${key}/`.startsWith(prefix))) continue;
    if (!isKey(key)) continue;
    if (isFolder) yield* walk(root, `${key}/`, prefix);
    else yield* listOne(root, key);
  }
}

type Entry = { readonly name: string; readonly isFolder: boolean };

async function readFolder(path: string): Promise<readonly Entry[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(unlessCode<Dirent[]>(['ENOENT'], []));
  return entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
    .sort((a, b) => compareKeys(sortName(a), sortName(b)));
}

// The keys in a folder continue with a slash, so "a-b" sorts before the folder "a", and "a0" after it.
const sortName = ({ name, isFolder }: Entry): string => (isFolder ? `${name}/` : name);

async function* listOne(root: string, key: string): AsyncGenerator<ListedObject> {
  const stats = await lstat(join(root, key), { bigint: true }).catch(
    unlessCode(['ENOENT', 'ENOTDIR'], undefined),
  );
  if (!stats?.isFile()) return;
  // Each object is a file of its own that was renamed to its key.
  const { size, mtimeNs, ino } = stats;
  yield { key, sizeBytes: Number(size), mark: `${mtimeNs}-${ino}-${size}` };
}
