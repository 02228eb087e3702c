import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { missingObject, StoredObjectError } from '../../store/stored-json.ts';
import type { ParquetInStore } from '../made/parquet-of-run.ts';
import type { Session } from './session.ts';
import type { DataFile } from './table.ts';

/** Copies an object to the file `path`. Throws `StoredObjectError` if it is missing or altered. */
export async function fetchFile(
  { store, signal }: Pick<Session, 'store' | 'signal'>,
  { key, sha256 }: ParquetInStore,
  path: string,
): Promise<DataFile> {
  const bytes = await store.stream(key, { signal });
  if (bytes === undefined) throw missingObject(store, key, 'a part');
  const hash = createHash('sha256');
  let sizeBytes = 0;
  await pipeline(
    bytes,
    async function* (pieces: AsyncIterable<Uint8Array>) {
      for await (const piece of pieces) {
        hash.update(piece);
        sizeBytes += piece.byteLength;
        yield piece;
      }
    },
    createWriteStream(path),
    { signal },
  );
  checkHash(key, sha256, hash.digest('hex'));
  return { path, sizeBytes };
}

/**
 * The file in which an object lies, to be read in place; undefined if the store has no files. Only its size is checked,
 * or all of it if the session `verifies`. Throws `StoredObjectError` if it is missing or altered.
 */
export async function fileInPlace(
  { store, verifies, signal }: Pick<Session, 'store' | 'verifies' | 'signal'>,
  { key, bytes, sha256 }: ParquetInStore,
): Promise<DataFile | undefined> {
  if (store.fileOf === undefined) return undefined;
  const file = await store.fileOf(key);
  if (file === undefined) throw missingObject(store, key, 'a part');
  if (file.sizeBytes !== bytes)
    throw new StoredObjectError('invalid', `${key}: expected ${bytes} bytes, got ${file.sizeBytes}`);
  if (verifies) {
    const hash = createHash('sha256');
    for await (const piece of (await store.stream(key, { signal })) ?? []) hash.update(piece);
    checkHash(key, sha256, hash.digest('hex'));
  }
  return file;
}

function checkHash(key: string, expected: string, got: string): void {
  if (got !== expected)
    throw new StoredObjectError('invalid', `${key}: expected the sha256 ${expected} as recorded, got ${got}`);
}
