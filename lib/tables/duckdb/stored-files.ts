import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import PQueue from 'p-queue';
import { missingObject, StoredObjectError, unlessDamaged } from '../../store/index.ts';
import type { ParquetInStore } from '../made/made-files.ts';
import type { DataFile } from './local-copies.ts';
import type { Session } from './session.ts';
import type { PreparedPiece } from './table.ts';

/** Rows that are stored as Parquet, or else made of what they are stored as. */
export type FileToRead = {
  readonly parquet: ParquetInStore | undefined;
  /** Names what is made: later queries of the session use it again. */
  readonly name: string;
  /** What it is made of, in words, and the bytes of that. */
  readonly from: string;
  readonly bytes: number;
  /** Makes it; `report` gets what is missing or damaged, and left out. */
  readonly make: (report: Session['report']) => Promise<Uint8Array | undefined>;
};

/** A piece of files, whose Parquet is read in place of what it was made of. */
export function preparedFiles(
  session: Session,
  files: readonly FileToRead[],
  load = () => loadFiles(session, files),
): PreparedPiece {
  const sizeOf = ({ parquet, bytes }: FileToRead) => parquet?.bytes ?? bytes;
  const isCopied = ({ parquet }: FileToRead) => parquet === undefined || session.store.fileOf === undefined;
  const sum = (sizes: readonly number[]) => sizes.reduce((total, each) => total + each, 0);
  return { bytes: sum(files.map(sizeOf)), copiedBytes: sum(files.filter(isCopied).map(sizeOf)), load };
}

/** How many files are fetched or made at once. */
const AT_ONCE = 2;

/** The files on this machine; what is missing or damaged in both forms is reported and left out. */
export async function loadFiles(
  session: Session,
  files: readonly FileToRead[],
): Promise<readonly DataFile[]> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  const found = await queue.addAll(files.map((file) => () => fileOf(session, file)));
  return found.filter((file) => file !== undefined);
}

async function fileOf(session: Session, file: FileToRead): Promise<DataFile | undefined> {
  const { parquet, name, from, make } = file;
  const note = (fault: string) => session.note(`${fault}; its records are read from ${from}`);
  const found = parquet && (await storedFile(session, parquet).catch(unlessDamaged(note)));
  if (found !== undefined) return found;
  return await session.copies.get(name, async (path) => {
    let isPartial = false;
    const report = (fault: string) => {
      isPartial = true;
      session.report(fault);
    };
    const body = await make(report).catch(unlessDamaged(report));
    if (body === undefined) return undefined;
    await writeFile(path, body);
    return { path, sizeBytes: body.byteLength, isPartial };
  });
}

/** A file of the store on this machine. Throws `StoredObjectError` if it is missing or altered. */
export const storedFile = async (session: Session, file: ParquetInStore): Promise<DataFile | undefined> =>
  (await fileInPlace(session, file)) ??
  (await session.copies.get(`${file.key} ${file.sha256}`, (path) => fetchFile(session, file, path)));

/** Copies an object to the file `path`. */
async function fetchFile(
  { store, signal }: Session,
  { key, sha256 }: ParquetInStore,
  path: string,
): Promise<DataFile> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const bytes = await store.stream(key, { signal });
  if (bytes === undefined) throw missingObject(store, key, 'a part');
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
 * or all of it if the session `verifies`.
 */
async function fileInPlace(
  { store, verifies, signal }: Session,
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
