import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError, unlessCode } from './error.ts';

/** What a directory holds under a key: `below-object` if a leading part of the key, `at`, is itself an object. */
export type Occupant =
  | { readonly kind: 'object' | 'folder' | 'absent' }
  | { readonly kind: 'below-object'; readonly at: string };

/**
 * Finds what a directory store holds under a key, segment by segment, so that no link on the way leads out. Throws
 * `key-conflict` at a link, a socket or a device.
 */
export async function findOccupant(root: string, key: string): Promise<Occupant> {
  const segments = key.split('/');
  for (const [index] of segments.entries()) {
    const at = segments.slice(0, index + 1).join('/');
    const kind = await kindAt(root, at);
    if (kind === 'absent' || index === segments.length - 1) return { kind };
    if (kind === 'object') return { kind: 'below-object', at };
  }
  return { kind: 'absent' };
}

/** Throws `key-conflict` unless an object can be stored under the key. */
export async function checkRoom(root: string, key: string): Promise<void> {
  const place = await findOccupant(root, key);
  if (place.kind === 'folder') throw conflict(root, key, `a folder of objects, ${key}/,`);
  if (place.kind === 'below-object') throw conflict(root, key, `the object ${place.at}`);
}

/** Throws `key-conflict` unless `folder`, one of the store's own, is or can become a folder and not a link. */
export async function checkOwnFolder(root: string, folder: string): Promise<void> {
  const place = await findOccupant(root, folder);
  if (place.kind === 'object') throw conflict(root, folder, 'a file');
  if (place.kind === 'below-object') throw conflict(root, folder, `the file ${place.at}`);
}

async function kindAt(root: string, at: string): Promise<'object' | 'folder' | 'absent'> {
  const stats = await lstat(join(root, at)).catch(unlessCode(['ENOENT', 'ENOTDIR'], undefined));
  if (stats === undefined) return 'absent';
  if (stats.isFile()) return 'object';
  if (stats.isDirectory()) return 'folder';
  throw conflict(root, at, 'a symbolic link or a special file');
}

const conflict = (root: string, key: string, occupant: string): StoreError =>
  new StoreError(`use ${key} in ${root}`, { kind: 'key-conflict', occupant });
