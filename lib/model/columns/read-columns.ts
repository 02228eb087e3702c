import { zstdDecompressSync } from 'node:zlib';
import { parquetMetadata } from 'hyparquet';
import { getSchemaPath } from 'hyparquet/src/schema.js';
import { freeMemory } from '../../base/index.ts';
import { StoredObjectError } from '../../store/index.ts';
import { type CellAt, type LeafInFile, leafCells, leafLists, type ReadText } from './leaf-cells.ts';

/** Some rows of a Parquet file, of which columns can be read by their paths, such as `currentrevision.scanstate`. */
export type RowGroup = {
  readonly rows: number;
  /**
   * A column of texts, as what `readText` makes of them, which may be called once for equal ones, for more rows than are asked
   * for, and not for others: null where there is none.
   */
  readonly texts: <T>(path: string, readText: ReadText<T>) => CellAt<T | null>;
  /** Any column that is in no list: integers are bigints, moments epoch milliseconds. */
  readonly values: (path: string) => CellAt<unknown>;
  /** The texts of each row's list, null for an element without one: `path` leads through `list.element`. */
  readonly lists: (path: string) => CellAt<readonly (string | null)[]>;
};

/** Memory holds the file, which is freed at the end, and columns that the caller holds. Throws `StoredObjectError`. */
export async function* rowGroupsOf(key: string, body: Uint8Array): AsyncGenerator<RowGroup> {
  const buffer = memoryOf(body);
  const { schema, row_groups } = orDamaged(key, () => parquetMetadata(buffer));
  for (const { num_rows, columns } of row_groups) {
    // The garbage collector would free the pages late: it does not see how much they are.
    const pages: Uint8Array[] = [];
    const unpack = (page: Uint8Array, sizeBytes: number) => unpacked(pages, page, sizeBytes);
    const read = <T>(name: string, cells: ReadLeaf<T>, readText: ReadText<unknown>) =>
      orDamaged(key, () => {
        const about = columns.find(({ meta_data: of }) => of?.path_in_schema.join('.') === name)?.meta_data;
        if (about === undefined) throw new Error(`expected a column ${name}, got none`);
        return cells({ buffer, about, path: getSchemaPath(schema, name.split('.')), unpack }, readText);
      });
    yield {
      rows: Number(num_rows),
      texts: (path, readText) => read(path, leafCells, readText) as CellAt<never>,
      values: (path) => read(path, leafCells, asText),
      lists: (path) => read(path, leafLists, asText) as CellAt<never>,
    };
    for (const page of pages) freeMemory(page);
  }
  freeMemory(new Uint8Array(buffer));
}

type ReadLeaf<T> = (leaf: LeafInFile, readText: ReadText<unknown>) => CellAt<T>;

function memoryOf(body: Uint8Array): ArrayBuffer {
  const { buffer, byteLength } = body;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) return buffer;
  return new Uint8Array(body).buffer;
}

export const asText: ReadText<string> = (utf8) =>
  Buffer.from(utf8.buffer, utf8.byteOffset, utf8.byteLength).toString('utf8');

function unpacked(pages: Uint8Array[], page: Uint8Array, sizeBytes: number): Uint8Array {
  // In one piece: by default it would be put together of many.
  const chunkSize = sizeBytes + LEAST_CHUNK_BYTES;
  const bytes = zstdDecompressSync(page, { chunkSize, maxOutputLength: Math.max(1, sizeBytes) });
  pages.push(bytes);
  return bytes;
}

const LEAST_CHUNK_BYTES = 64;

function orDamaged<T>(key: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new StoredObjectError('invalid', `${key}: expected Parquet, got something else`, { cause });
  }
}
