import { zstdDecompressSync } from 'node:zlib';
import { type DecodedArray, type FileMetaData, parquetMetadata, parquetRead } from 'hyparquet';
import { freeMemory } from '../../base/index.ts';
import { StoredObjectError } from '../../store/index.ts';

/** Makes something of each text of a column, from its UTF-8: a view, which is empty once the next row group is read. */
export type ReadText<T> = (utf8: Uint8Array) => T;

/** Some rows of a Parquet file, of which columns can be read. */
export type RowGroup = {
  readonly rows: number;
  /**
   * A column of texts, as what `readText` makes of them, which may be called once for equal ones, for more rows than are asked
   * for, and not for others: null where there is none.
   */
  readonly texts: <T>(name: string, readText: ReadText<T>) => Promise<CellAt<T | null>>;
  /** Any column: integers are bigints, moments epoch milliseconds, lists arrays, structs objects. */
  readonly values: (name: string) => Promise<CellAt<unknown>>;
};

/** What a column has in a row of its row group, until the next one is read. */
type CellAt<T> = (row: number) => T;

/** Memory holds the file, which is freed at the end, and columns that the caller holds. Throws `StoredObjectError`. */
export async function* rowGroupsOf(key: string, body: Uint8Array): AsyncGenerator<RowGroup> {
  const buffer = memoryOf(body);
  const metadata = await orDamaged(key, () => parquetMetadata(buffer));
  let start = 0;
  for (const { num_rows, columns } of metadata.row_groups) {
    // The garbage collector would free the pages late: it does not see how much they are.
    const pages: Uint8Array[] = [];
    const rows = { start, end: start + Number(num_rows) };
    const read = (name: string, stringFromBytes: ReadText<unknown>) =>
      orDamaged(key, () => readColumn({ buffer, metadata, pages, rows }, name, stringFromBytes));
    yield {
      rows: Number(num_rows),
      async texts(name, readText) {
        const about = columns.find(({ meta_data: of }) => of?.path_in_schema.join('.') === name)?.meta_data;
        // Of a dictionary all are read, each once; of other texts those that are asked for.
        if (about?.dictionary_page_offset !== undefined) return (await read(name, readText)) as CellAt<never>;
        const utf8At = (await read(name, (utf8) => utf8)) as CellAt<Uint8Array | null>;
        return (row) => {
          const utf8 = utf8At(row);
          return utf8 === null ? null : readText(utf8);
        };
      },
      values: (name) => read(name, asText),
    };
    for (const page of pages) freeMemory(page);
    start = rows.end;
  }
  freeMemory(new Uint8Array(buffer));
}

function memoryOf(body: Uint8Array): ArrayBuffer {
  const { buffer, byteLength } = body;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) return buffer;
  return new Uint8Array(body).buffer;
}

export const asText: ReadText<string> = (utf8) =>
  Buffer.from(utf8.buffer, utf8.byteOffset, utf8.byteLength).toString('utf8');

type OpenedGroup = {
  readonly buffer: ArrayBuffer;
  readonly metadata: FileMetaData;
  /** What was unpacked, until it is freed. */
  readonly pages: Uint8Array[];
  readonly rows: { readonly start: number; readonly end: number };
};

function unpacked(pages: Uint8Array[], page: Uint8Array, sizeBytes: number): Uint8Array {
  // In one piece: by default it would be put together of many.
  const chunkSize = sizeBytes + LEAST_CHUNK_BYTES;
  const bytes = zstdDecompressSync(page, { chunkSize, maxOutputLength: Math.max(1, sizeBytes) });
  pages.push(bytes);
  return bytes;
}

const LEAST_CHUNK_BYTES = 64;

async function readColumn(
  { buffer, metadata, pages, rows }: OpenedGroup,
  name: string,
  stringFromBytes: ReadText<unknown>,
): Promise<CellAt<unknown>> {
  const chunks: DecodedArray[] = [];
  await parquetRead({
    file: buffer,
    metadata,
    columns: [name],
    rowStart: rows.start,
    rowEnd: rows.end,
    compressors: { ZSTD: (page, sizeBytes) => unpacked(pages, page, sizeBytes) },
    parsers: { stringFromBytes, timestampFromMilliseconds: Number },
    onChunk: ({ columnData }) => void chunks.push(columnData),
  });
  const [only = [], ...more] = chunks;
  const values = more.length === 0 ? only : chunks.flatMap((chunk) => [...chunk]);
  return (row) => values[row] ?? null;
}

async function orDamaged<T>(key: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new StoredObjectError('invalid', `${key}: expected Parquet, got something else`, { cause });
  }
}
