import { zstdDecompressSync } from 'node:zlib';
import { type DecodedArray, type FileMetaData, parquetMetadata, parquetRead } from 'hyparquet';
import { freeMemory } from '../../bytes/free-memory.ts';
import { StoredObjectError } from '../../store/stored-json.ts';

/** Makes something of each text of a column, from its UTF-8: a view, which is empty once the next row group is read. */
export type ReadText<T> = (utf8: Uint8Array) => T;

/** Some rows of a Parquet file, of which columns can be read. */
export type RowGroup = {
  readonly rows: number;
  /**
   * A column of texts, as what `readText` makes of them, which may be called once for equal ones: null or undefined where
   * there is none.
   */
  readonly texts: <T>(name: string, readText: ReadText<T>) => Promise<ArrayLike<T | null | undefined>>;
  /** Any column: integers are bigints, moments epoch milliseconds, lists arrays, structs objects. */
  readonly values: (name: string) => Promise<ArrayLike<unknown>>;
};

/**
 * The row groups of a Parquet file that `lib/tables/parquet` wrote, one after another: memory holds the file and the
 * columns that the caller holds. Throws `StoredObjectError` that names the file if it is something else.
 */
export async function* rowGroupsOf(key: string, body: Uint8Array): AsyncGenerator<RowGroup> {
  const buffer = memoryOf(body);
  const metadata = orDamaged(key, () => parquetMetadata(buffer));
  // The garbage collector would free the pages late: it does not see how much they are.
  const pages: Uint8Array[] = [];
  const opened = { key, buffer, metadata, pages };
  let start = 0;
  for (const group of metadata.row_groups) {
    const end = start + Number(group.num_rows);
    const rows = { start, end };
    const read = (name: string, readText: ReadText<unknown>) =>
      readColumn({ ...opened, name, ...rows }, readText);
    yield {
      rows: end - start,
      texts: (name, readText) => read(name, readText) as Promise<never>,
      values: (name) => read(name, asText),
    };
    for (const page of pages.splice(0)) freeMemory(page);
    start = end;
  }
}

/** True if bytes end and begin like a Parquet file with a footer that can be read. */
export function isParquet(body: Uint8Array): boolean {
  try {
    parquetMetadata(memoryOf(body));
    return true;
  } catch {
    return false;
  }
}

/** Memory that holds nothing else. */
function memoryOf(body: Uint8Array): ArrayBuffer {
  const { buffer, byteLength } = body;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) return buffer;
  return new Uint8Array(body).buffer;
}

/** A text as its bytes: equal ones may be the same view. */
export const asBytes: ReadText<Uint8Array> = (utf8) => utf8;

/** A text as it is. */
export const asText: ReadText<string> = (utf8) =>
  Buffer.from(utf8.buffer, utf8.byteOffset, utf8.byteLength).toString('utf8');

type ColumnToRead = {
  readonly key: string;
  readonly buffer: ArrayBuffer;
  readonly pages: Uint8Array[];
  readonly metadata: FileMetaData;
  readonly name: string;
  readonly start: number;
  readonly end: number;
};

async function readColumn(
  { key, buffer, metadata, pages, name, start, end }: ColumnToRead,
  readText: ReadText<unknown>,
): Promise<ArrayLike<unknown>> {
  const chunks: DecodedArray[] = [];
  try {
    await parquetRead({
      file: buffer,
      metadata,
      columns: [name],
      rowStart: start,
      rowEnd: end,
      compressors: {
        ZSTD(page, sizeBytes) {
          const unpacked = zstdDecompressSync(page, { maxOutputLength: Math.max(1, sizeBytes) });
          pages.push(unpacked);
          return unpacked;
        },
      },
      parsers: { stringFromBytes: readText, timestampFromMilliseconds: Number },
      onChunk: ({ columnData }) => void chunks.push(columnData),
    });
  } catch (cause) {
    throw damaged(key, cause);
  }
  const [only = [], ...more] = chunks;
  return more.length === 0 ? only : chunks.flatMap((chunk) => [...chunk]);
}

function orDamaged<T>(key: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw damaged(key, cause);
  }
}

const damaged = (key: string, cause: unknown) =>
  new StoredObjectError('invalid', `${key}: expected Parquet, got something else`, { cause });
