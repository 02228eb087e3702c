import { StoredObjectError } from '../../store/stored-json.ts';
import type { ParquetInStore } from '../made/parquet-of-run.ts';
import { fetchFile, fileInPlace } from './fetch-file.ts';
import { type TextRow, writeRows } from './row-file.ts';
import type { Session } from './session.ts';
import type { DataFile, PreparedPiece } from './table.ts';

/** Objects of lines, and the Parquet that has the same rows. */
export type StoredFile<Item> = {
  readonly items: readonly Item[];
  /** Of the objects. */
  readonly bytes: number;
  readonly parquet: ParquetInStore | undefined;
};

export type StoredFiles<Item> = {
  readonly files: readonly StoredFile<Item>[];
  readonly rowsOf: (items: readonly Item[]) => AsyncIterable<TextRow>;
  /** How many times larger the rows are than the objects, about. */
  readonly unpacked: number;
  readonly jsonColumns: readonly string[];
};

/** A piece of objects, whose Parquet is read in place of those that have it. */
export function prepareStored<Item>(
  session: Session,
  { files, rowsOf, unpacked, jsonColumns }: StoredFiles<Item>,
): PreparedPiece {
  const isInPlace = session.store.fileOf !== undefined;
  const bytes = files.map((file) => file.parquet?.bytes ?? file.bytes);
  const copied = files.map(({ parquet, bytes: own }) =>
    parquet === undefined ? own * unpacked : isInPlace ? 0 : parquet.bytes,
  );
  return {
    bytes: sum(bytes),
    copiedBytes: sum(copied),
    async load() {
      const found: DataFile[] = [];
      const lines: Item[] = [];
      for (const { items, parquet } of files) {
        const file = parquet && (await fileOf(session, parquet));
        if (file === undefined) lines.push(...items);
        else found.push({ ...file, jsonColumns });
      }
      if (lines.length > 0) found.push(await writeRows(session.folder, rowsOf(lines)));
      return found;
    },
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** Parquet on this machine; undefined if it is missing or damaged, which is noted. */
async function fileOf(session: Session, parquet: ParquetInStore): Promise<DataFile | undefined> {
  const { key, sha256 } = parquet;
  try {
    const inPlace = await fileInPlace(session, parquet);
    return (
      inPlace ?? (await session.copies.get(`${key} ${sha256}`, (path) => fetchFile(session, parquet, path)))
    );
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    session.note(`${error.message}; its rows are read from what it was made of`);
    return undefined;
  }
}
