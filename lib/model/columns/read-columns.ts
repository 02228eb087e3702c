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
import { freeMemory } from '../../base/index.ts';
import { StoredObjectError } from '../../store/index.ts';

/** Makes something of each text of a column, from its UTF-8: a view, which is empty once the next row group is read. */
export type ReadText<T> = (utf8: Uint8Array) => T;

/** Some rows of a Parquet file, of which columns can be read. */
export type RowGroup = {
  readonly rows: number;
  /**
   * A column of texts, as what `readText` makes of them, which may be called once for equal ones, and not for rows that are
   * not asked for: null where there is none.
   */
  readonly texts: <T>(name: string, readText: ReadText<T>) => Promise<CellAt<T | null>>;
  /** Any column: integers are bigints, moments epoch milliseconds, lists arrays, structs objects. */
  readonly values: (name: string) => Promise<CellAt<unknown>>;
};

/** What a column has in a row of its row group, until the next one is read. */
export type CellAt<T> = (row: number) => T;

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
): CellAt<unknown> {
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
  const plain = (page: Uint8Array, count: number): CellAt<unknown> => {
    if (about.type === 'BYTE_ARRAY') return textsIn(page, count, readText);
    if (about.type === 'BOOLEAN') return (place) => (((page[place >> 3] ?? 0) >> (place & 7)) & 1) === 1;
    if (about.type !== 'INT64') throw new Error(`expected texts, integers or booleans, got ${about.type}`);
    const view = viewOf(page);
    return isTime
      ? (place) => view.getInt32(8 * place + 4, true) * 2 ** 32 + view.getUint32(8 * place, true)
      : (place) => view.getBigInt64(8 * place, true);
  };

  let page = nextPage();
  let dictionary: CellAt<unknown> | undefined;
  if (page.header.type === 'DICTIONARY_PAGE') {
    const { uncompressed_page_size: sizeBytes, dictionary_page_header: of } = page.header;
    const count = of?.num_values ?? 0;
    dictionary = onceEach(plain(unpacked(pages, page.bytes, sizeBytes), count), count);
    page = nextPage();
  }
  const { uncompressed_page_size: sizeBytes, data_page_header_v2: of } = page.header;
  if (of === undefined) throw new Error('expected a page of version 2');
  const levelBytes = of.definition_levels_byte_length;
  const data = unpacked(pages, page.bytes.subarray(levelBytes), sizeBytes - levelBytes);
  const count = of.num_values - of.num_nulls;
  const valueAt = dictionary === undefined ? plain(data, count) : byPlaces(data, dictionary, count);
  if (of.num_nulls === 0) return valueAt;
  const levels = new Uint8Array(of.num_values);
  readRleBitPackedHybrid({ view: viewOf(page.bytes), offset: 0 }, 1, levels, levelBytes);
  // How many values come before each row.
  const before = new Uint32Array(levels.length);
  for (let row = 1; row < levels.length; row += 1)
    before[row] = (before[row - 1] ?? 0) + (levels[row - 1] ?? 0);
  return (row) => (levels[row] === 1 ? valueAt(before[row] ?? 0) : null);
}

/** Texts one behind another, each after its length. */
function textsIn(page: Uint8Array, count: number, readText: ReadText<unknown>): CellAt<unknown> {
  const view = viewOf(page);
  const starts = new Uint32Array(count + 1);
  for (let place = 0; place < count; place += 1) {
    const start = starts[place] ?? 0;
    starts[place + 1] = start + 4 + view.getUint32(start, true);
  }
  return (place) => readText(page.subarray((starts[place] ?? 0) + 4, starts[place + 1]));
}

/** Each value as it was when it was first asked for. */
function onceEach(valueAt: CellAt<unknown>, count: number): CellAt<unknown> {
  const values = new Array<unknown>(count);
  const isKnown = new Uint8Array(count);
  return (place) => {
    if (isKnown[place] !== 1) {
      values[place] = valueAt(place);
      isKnown[place] = 1;
    }
    return values[place];
  };
}

function byPlaces(data: Uint8Array, valueAt: CellAt<unknown>, count: number): CellAt<unknown> {
  const places = new Uint32Array(count);
  readRleBitPackedHybrid({ view: viewOf(data), offset: 1 }, data[0] ?? 0, places, data.length - 1);
  return (place) => valueAt(places[place] ?? 0);
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

async function readNested(
  { buffer, metadata, pages, rows }: OpenedGroup,
  name: string,
): Promise<CellAt<unknown>> {
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
  const values = more.length === 0 ? only : chunks.flatMap((chunk) => [...chunk]);
  return (row) => values[row];
}

async function orDamaged<T>(key: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new StoredObjectError('invalid', `${key}: expected Parquet, got something else`, { cause });
  }
}
