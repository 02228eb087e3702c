import { zstdDecompressSync } from 'node:zlib';
import {
  type ColumnMetaData,
  type DecodedArray,
  type FileMetaData,
  parquetMetadata,
  parquetRead,
} from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { readPlain } from 'hyparquet/src/plain.js';
import { freeMemory } from '../../base/index.ts';
import { StoredObjectError } from '../../store/index.ts';

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
 * The row groups of a Parquet file that `lib/tables/parquet` wrote, one after another: memory holds the file, which is freed
 * at the end, and the columns that the caller holds. Throws `StoredObjectError` that names the file if it is something else.
 */
export async function* rowGroupsOf(key: string, body: Uint8Array): AsyncGenerator<RowGroup> {
  const buffer = memoryOf(body);
  const metadata = await orDamaged(key, () => parquetMetadata(buffer));
  let start = 0;
  for (const { num_rows, columns } of metadata.row_groups) {
    // The garbage collector would free the pages late: it does not see how much they are.
    const pages: Uint8Array[] = [];
    const rows = { start, end: start + Number(num_rows) };
    const opened = { buffer, metadata, pages, rows };
    const read = (name: string, readText: ReadText<unknown>) =>
      orDamaged(key, () => {
        const flat = columns.find(({ meta_data: of }) => of?.path_in_schema.join('.') === name)?.meta_data;
        return flat === undefined ? readNested(opened, name) : readFlat(opened, flat, readText);
      });
    yield {
      rows: Number(num_rows),
      texts: (name, readText) => read(name, readText) as Promise<never>,
      values: (name) => read(name, asText),
    };
    for (const page of pages) freeMemory(page);
    start = rows.end;
  }
  freeMemory(new Uint8Array(buffer));
}

/** Memory that holds nothing else. */
function memoryOf(body: Uint8Array): ArrayBuffer {
  const { buffer, byteLength } = body;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) return buffer;
  return new Uint8Array(body).buffer;
}

/** A text as it is. */
export const asText: ReadText<string> = (utf8) =>
  Buffer.from(utf8.buffer, utf8.byteOffset, utf8.byteLength).toString('utf8');

type OpenedGroup = {
  readonly buffer: ArrayBuffer;
  readonly metadata: FileMetaData;
  /** What was unpacked, until it is freed. */
  readonly pages: Uint8Array[];
  readonly rows: { readonly start: number; readonly end: number };
};

/** A column without lists and structs, as it was written: a dictionary, if it has one, and one page. */
function readFlat(
  { buffer, metadata, pages }: OpenedGroup,
  about: ColumnMetaData,
  readText: ReadText<unknown>,
): ArrayLike<unknown> {
  const start = Number(about.dictionary_page_offset ?? about.data_page_offset);
  const reader = { view: new DataView(buffer, start, Number(about.total_compressed_size)), offset: 0 };
  const nextPage = () => {
    const header = parquetHeader(reader);
    const bytes = new Uint8Array(buffer, start + reader.offset, header.compressed_page_size);
    reader.offset += header.compressed_page_size;
    return { header, bytes };
  };
  const isTime = metadata.schema.some(
    ({ name, converted_type }) => name === about.path_in_schema[0] && converted_type === 'TIMESTAMP_MILLIS',
  );
  const plain = (page: Uint8Array, count: number): ArrayLike<unknown> => {
    const values = readPlain({ view: viewOf(page), offset: 0 }, about.type, count, undefined);
    if (about.type === 'BYTE_ARRAY') return Array.from(values as Uint8Array[], readText);
    return isTime ? Float64Array.from(values as Iterable<bigint>, Number) : values;
  };

  let page = nextPage();
  let dictionary: ArrayLike<unknown> | undefined;
  if (page.header.type === 'DICTIONARY_PAGE') {
    const { uncompressed_page_size: sizeBytes, dictionary_page_header: of } = page.header;
    dictionary = plain(unpacked(pages, page.bytes, sizeBytes), of?.num_values ?? 0);
    page = nextPage();
  }
  const { uncompressed_page_size: sizeBytes, data_page_header_v2: of } = page.header;
  if (of === undefined) throw new Error('expected a page of version 2');
  const levelBytes = of.definition_levels_byte_length;
  const data = unpacked(pages, page.bytes.subarray(levelBytes), sizeBytes - levelBytes);
  const count = of.num_values - of.num_nulls;
  const values = dictionary === undefined ? plain(data, count) : fromDictionary(data, dictionary, count);
  if (of.num_nulls === 0) return values;
  const levels = new Uint8Array(of.num_values);
  readRleBitPackedHybrid({ view: viewOf(page.bytes), offset: 0 }, 1, levels, levelBytes);
  let next = 0;
  return Array.from(levels, (level) => (level === 1 ? values[next++] : null));
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView<ArrayBuffer> =>
  new DataView(buffer as ArrayBuffer, byteOffset, byteLength);

function unpacked(pages: Uint8Array[], page: Uint8Array, sizeBytes: number): Uint8Array {
  // In one piece: by default it would be put together of many.
  const chunkSize = sizeBytes + LEAST_CHUNK_BYTES;
  const bytes = zstdDecompressSync(page, { chunkSize, maxOutputLength: Math.max(1, sizeBytes) });
  pages.push(bytes);
  return bytes;
}

const LEAST_CHUNK_BYTES = 64;

function fromDictionary(data: Uint8Array, dictionary: ArrayLike<unknown>, count: number): ArrayLike<unknown> {
  const places = new Uint32Array(count);
  readRleBitPackedHybrid({ view: viewOf(data), offset: 1 }, data[0] ?? 0, places, data.length - 1);
  const values = new Array<unknown>(count);
  for (let row = 0; row < count; row += 1) values[row] = dictionary[places[row] ?? 0];
  return values;
}

async function readNested(
  { buffer, metadata, pages, rows }: OpenedGroup,
  name: string,
): Promise<ArrayLike<unknown>> {
  const chunks: DecodedArray[] = [];
  await parquetRead({
    file: buffer,
    metadata,
    columns: [name],
    rowStart: rows.start,
    rowEnd: rows.end,
    compressors: { ZSTD: (page, sizeBytes) => unpacked(pages, page, sizeBytes) },
    parsers: { stringFromBytes: asText, timestampFromMilliseconds: Number },
    onChunk: ({ columnData }) => void chunks.push(columnData),
  });
  const [only = [], ...more] = chunks;
  return more.length === 0 ? only : chunks.flatMap((chunk) => [...chunk]);
}

async function orDamaged<T>(key: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new StoredObjectError('invalid', `${key}: expected Parquet, got something else`, { cause });
  }
}
