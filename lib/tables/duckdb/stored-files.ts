import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { unlessDamaged } from '../../store/index.ts';
import { type ParquetInStore, soundParquet } from '../made/made-files.ts';
import type { DataFile } from './local-copies.ts';
import type { FileToRead, Session } from './table.ts';

/** Rows that may be stored as Parquet, and else are made of what they are stored as. */
type StoredRows = {
  readonly parquet?: ParquetInStore | undefined;
  /** Stores the Parquet that lacks; undefined if the store takes nothing. */
  readonly store?: () => Promise<ParquetInStore | undefined>;
  /** Names what is made: later queries of the session use it again. */
  readonly name: string;
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
  const parquet = rows.parquet ?? (await rows.store?.());
  if (parquet !== undefined) {
    const found = await storedFile(session, parquet);
    if (found !== undefined) return found;
    session.note(`${parquet.key} is lost or damaged: its records are read from ${rows.name}`);
  }
  return await session.copies.get(rows.name, async (path) => {
    let isPartial = false;
    const report = (fault: string) => {
      isPartial = true;
      session.report(fault);
    };
    const body = await rows.make(report).catch(unlessDamaged(report));
    return body && { ...(await writeCopy(path, body)), isPartial };
  });
}

/** Undefined if it is lost or damaged. Of one that is read in place the hash is checked once in a session. */
export async function storedFile(session: Session, file: ParquetInStore): Promise<DataFile | undefined> {
  const { store, copies, signal } = session;
  if (store.fileOf === undefined)
    return await copies.get(`${file.key} ${file.sha256}`, async (path) => {
      const body = await soundParquet(store, file, signal);
      return body && (await writeCopy(path, body));
    });
  const there = await store.fileOf(file.key);
  if (there?.sizeBytes !== file.bytes) return undefined;
  const checked = await copies.get(`sound ${file.key} ${file.sha256}`, async () =>
    (await hashOfFile(there.path)) === file.sha256 ? { path: there.path, sizeBytes: 0 } : undefined,
  );
  return checked && there;
}

/** SHA-256 of a file; undefined if it was deleted meanwhile. */
async function hashOfFile(path: string): Promise<string | undefined> {
  const hashed = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hashed.update(chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
  return hashed.digest('hex');
}

export async function writeCopy(path: string, body: Uint8Array): Promise<DataFile> {
  await writeFile(path, body);
  return { path, sizeBytes: body.byteLength };
}
