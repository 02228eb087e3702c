import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Columns } from '../../snapshot/sources/index.ts';
import { type Store, unlessDamaged } from '../../store/index.ts';
import { intactParquet, type StoredParquet } from '../parquet/part-files.ts';

/** Rows that are stored as Parquet, or that can be converted to Parquet. */
type StoredRows = {
  readonly parquet?: StoredParquet | undefined;
  /** Builds and stores the Parquet if it is missing; returns undefined if it cannot be stored. */
  readonly store?: () => Promise<StoredParquet | undefined>;
  /** A name for the converted rows, by which later queries of the session find them. */
  readonly name: string;
  readonly bytes: number;
  /** Converts the rows. Calls `report` with what is missing or damaged, and so left out. */
  readonly build: (report: Session['report']) => Promise<Uint8Array | undefined>;
};

/**
 * The Parquet file of some rows: the stored file or, if it is missing or damaged, a file that is built again. If that
 * is not possible, it is reported, and the rows are left out.
 */
export function fileOf(session: Session, rows: StoredRows): FileToRead {
  const bytes = rows.parquet?.bytes ?? rows.bytes;
  const isInPlace = rows.parquet !== undefined && session.store.fileOf !== undefined;
  return { bytes, copiedBytes: isInPlace ? 0 : bytes, open: () => storedOrBuilt(session, rows) };
}

async function storedOrBuilt(session: Session, rows: StoredRows): Promise<DataFile | undefined> {
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
    const body = await rows.build(report).catch(unlessDamaged(report));
    return body && { ...(await writeCopy(path, body)), isPartial };
  });
}

/**
 * Opens a stored file; undefined if it is missing or damaged. In a directory store the file is read in place, and its
 * hash is checked once a session; otherwise it is copied.
 */
export async function storedFile(session: Session, file: StoredParquet): Promise<DataFile | undefined> {
  const { store, copies, signal } = session;
  if (store.fileOf === undefined)
    return await copies.get(`${file.key} ${file.sha256}`, async (path) => {
      const body = await intactParquet(store, file, signal);
      return body && (await writeCopy(path, body));
    });
  const there = await store.fileOf(file.key);
  if (there?.sizeBytes !== file.bytes) return undefined;
  const checked = await copies.get(`sound ${file.key} ${file.sha256}`, async () =>
    (await hashOfFile(there.path)) === file.sha256 ? { path: there.path, sizeBytes: 0 } : undefined,
  );
  return checked && there;
}

/** The SHA-256 of a file; undefined if it has been deleted in the meantime. */
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

/** Writes a file, and returns it. */
export async function writeCopy(path: string, body: Uint8Array): Promise<DataFile> {
  await writeFile(path, body);
  return { path, sizeBytes: body.byteLength };
}

/** What the tables of a query share. */
export type Session = {
  readonly store: Store;
  readonly copies: LocalCopies;
  /** Reports what was missing or damaged, and so is left out, in words. */
  readonly report: (fault: string) => void;
  /** Reports what is damaged but could be read from elsewhere, and what was never published, in words. */
  readonly note: (words: string) => void;
  /** Whether the query mentions a column with this name, in lower case. */
  readonly namesColumn: (column: string) => boolean;
  /** The current time in epoch milliseconds; for a store as of an earlier moment, that moment. */
  readonly now: () => number;
  /** Aborted when the query must stop. */
  readonly signal: AbortSignal;
};

/** A stored table. Views read it. */
export type Table = {
  readonly name: string;
  /** The columns, except `pieceColumns`. */
  readonly columns: Columns;
  /** The names of its last columns. They are strings, and have the same value in all rows of a piece. */
  readonly pieceColumns: readonly string[];
  /** Finds its current pieces. `reads`: returns whether the query reads a table whose name matches. */
  readonly pieces: (reads: (name: RegExp) => boolean) => Promise<readonly Piece[]>;
};

/**
 * Rows of a table that are read or left out together, such as the records of a run or the jobs of a day, depending on
 * the query's conditions on the piece columns.
 */
export type Piece = {
  /** The values of the piece columns, in order. */
  readonly values: readonly string[];
  /** The files of the piece. Missing and damaged objects are reported. */
  readonly files: () => Promise<readonly FileToRead[]>;
};

/** A Parquet file that a query may read. It is opened only when it is needed. */
export type FileToRead = {
  /** Maximum bytes to read from the file. DuckDB may read less of a file on this machine. */
  readonly bytes: number;
  /** How many of these bytes will need room in the temporary folder, as far as is known before the file is opened. */
  readonly copiedBytes: number;
  /** The file on this machine; undefined if it is missing or damaged, which is reported. */
  readonly open: () => Promise<DataFile | undefined>;
};

type DataFile = {
  readonly path: string;
  readonly sizeBytes: number;
  /** Whether something was left out of it because it is missing or damaged. Default: false. */
  readonly isPartial?: boolean | undefined;
};

/**
 * A file in the temporary folder: a copy or a conversion of an object. Undefined if the object is missing or damaged.
 */
type LocalFile = Promise<DataFile | undefined>;

/** The files in the temporary folder, by name. Later queries of a session use them again. */
type LocalCopies = {
  /** Returns the copy with this name. If it does not exist, `write` creates it at `path`. */
  readonly get: (name: string, write: (path: string) => LocalFile) => LocalFile;
  readonly sizeBytes: () => number;
  /** Marks the copies as in use until this is disposed of. */
  readonly use: () => Disposable;
  /** Deletes all copies. If more than one query uses them, deletes none and returns false. */
  readonly clear: () => Promise<boolean>;
};

/** Creates the copies in a folder, which must exist. */
export function createLocalCopies(folder: string): LocalCopies {
  const copies = new Map<string, LocalFile>();
  const paths: string[] = [];
  let sizeBytes = 0;
  let users = 0;
  return {
    get(name, write) {
      const known = copies.get(name);
      if (known !== undefined) return known;
      const path = join(folder, hash('sha256', `${paths.length} ${name}`));
      paths.push(path);
      const written = write(path).then((file) => {
        // Not used again, since the damage must be reported to each query that reads the file.
        if (file === undefined || file.isPartial === true) copies.delete(name);
        sizeBytes += file?.sizeBytes ?? 0;
        return file;
      });
      copies.set(name, written);
      written.catch(() => copies.delete(name));
      return written;
    },
    sizeBytes: () => sizeBytes,
    use() {
      users += 1;
      return {
        [Symbol.dispose]() {
          users -= 1;
        },
      };
    },
    async clear() {
      if (users > 1) return false;
      await Promise.allSettled(copies.values());
      copies.clear();
      sizeBytes = 0;
      for (const path of paths.splice(0)) await rm(path, { force: true });
      return true;
    },
  };
}
