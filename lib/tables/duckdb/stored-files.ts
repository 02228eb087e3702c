import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { missingObject, StoredObjectError, unlessDamaged } from '../../store/index.ts';
import type { ParquetInStore } from '../made/made-files.ts';
import type { DataFile } from './local-copies.ts';
import type { FileToRead, Session } from './table.ts';

/** Rows that may be stored as Parquet, and else are made of what they are stored as. */
export type StoredRows = {
  readonly parquet?: ParquetInStore | undefined;
  /** Stores the Parquet that lacks; undefined if the store takes nothing. */
  readonly store?: () => Promise<ParquetInStore | undefined>;
  /** Names what is made: later queries of the session use it again. */
  readonly name: string;
  /** The bytes of what it is made of. */
  readonly bytes: number;
  /** Makes it; `report` gets what is missing or damaged, and left out. */
  readonly make: (report: Session['report']) => Promise<Uint8Array | undefined>;
};

/** The Parquet of rows; what is missing or damaged in both forms is reported and left out. */
export function fileOf(session: Session, rows: StoredRows): FileToRead {
  const bytes = rows.parquet?.bytes ?? rows.bytes;
  const isInPlace = rows.parquet !== undefined && session.store.fileOf !== undefined;
  return { bytes, copiedBytes: isInPlace ? 0 : bytes, open: () => storedOrMade(session, rows) };
}

async function storedOrMade(session: Session, rows: StoredRows): Promise<DataFile | undefined> {
  const note = (fault: string) => session.note(`${fault}; its records are read from ${rows.name}`);
  const parquet = rows.parquet ?? (await rows.store?.());
  const found = parquet && (await storedFile(session, parquet).catch(unlessDamaged(note)));
  if (found !== undefined) return found;
  return await session.copies.get(rows.name, async (path) => {
    let isPartial = false;
    const report = (fault: string) => {
      isPartial = true;
      session.report(fault);
    };
    const body = await rows.make(report).catch(unlessDamaged(report));
    if (body === undefined) return undefined;
    await writeFile(path, body);
    return { path, sizeBytes: body.byteLength, isPartial };
  });
}

/** A file of the store on this machine. Throws `StoredObjectError` if it is missing or altered. */
export const storedFile = async (session: Session, file: ParquetInStore): Promise<DataFile | undefined> =>
  session.store.fileOf === undefined
    ? await session.copies.get(`${file.key} ${file.sha256}`, (path) => copyFile(session, file, path))
    : await fileInPlace(session, file);

/** Copies an object to the file `path`. */
async function copyFile(session: Session, file: ParquetInStore, path: string): Promise<DataFile> {
  await pipeline(checked(session, file), createWriteStream(path), { signal: session.signal });
  return { path, sizeBytes: file.bytes };
}

/** The file in which an object lies. Only its size is checked, or all of it if the session `verifies`. */
async function fileInPlace(session: Session, file: ParquetInStore): Promise<DataFile | undefined> {
  const { store, verifies } = session;
  const { key, bytes } = file;
  const there = await store.fileOf?.(key);
  if (there === undefined) throw missingObject(store, key, 'a part');
  if (there.sizeBytes !== bytes)
    throw new StoredObjectError('invalid', `${key}: expected ${bytes} bytes, got ${there.sizeBytes}`);
  if (verifies) for await (const _ of checked(session, file));
  return there;
}

/** The bytes of an object. Throws `StoredObjectError` at their end if they are not those that were recorded. */
async function* checked({ store, signal }: Session, { key, sha256 }: ParquetInStore) {
  const hash = createHash('sha256');
  const bytes = await store.stream(key, { signal });
  if (bytes === undefined) throw missingObject(store, key, 'a part');
  for await (const piece of bytes) {
    hash.update(piece);
    yield piece;
  }
  const got = hash.digest('hex');
  if (got !== sha256)
    throw new StoredObjectError('invalid', `${key}: expected the sha256 ${sha256} as recorded, got ${got}`);
}
