import { zstdDecompressSync } from 'node:zlib';
import { type ColumnMetaData, parquetMetadata, parquetSchema, type SchemaTree } from 'hyparquet';
import { freeMemory } from '../../base/json/index.ts';
import { StoredObjectError } from '../../store/index.ts';
import { bitsOf } from './leaf.ts';
import { readNumbers, readPageHeader } from './pages.ts';
import { LENGTH_BYTES } from './texts.ts';

/** A row group of a Parquet file. Columns are read by their paths, such as `currentrevision.scanstate`. */
export type RowGroup = {
  readonly rows: number;
  /**
   * A column of strings, each converted by `readText`. The function may be called once for several
   * equal strings, and also for strings of rows that are not read. Null stays null.
   */
  readonly texts: <T>(path: string, readText: ReadText<T>) => CellAt<T | null>;
  /** Any column outside of lists. Integers are bigints, timestamps are epoch milliseconds. */
  readonly values: (path: string) => CellAt<unknown>;
  /** The strings of each row's list; null for an element that has no string. `path` contains `list.element`. */
  readonly lists: (path: string) => CellAt<readonly (string | null)[]>;
};

/**
 * Reads the row groups of a file. Memory holds the file, which is freed at the end, and the columns that the caller
 * holds. `key`: the file's key, for messages. Throws `StoredObjectError` if the file is damaged.
 */
export async function* rowGroupsOf(key: string, body: Uint8Array): AsyncGenerator<RowGroup> {
  const buffer = memoryOf(body);
  const { schema, row_groups } = damagedIfThrown(key, () => {
    const about = parquetMetadata(buffer);
    return { ...about, schema: parquetSchema(about) };
  });
  for (const { num_rows, columns } of row_groups) {
    // These pages are freed explicitly, since the garbage collector does not count native memory.
    const pages: Uint8Array[] = [];
    const unpack = (page: Uint8Array, sizeBytes: number) => unpacked(pages, page, sizeBytes);
    const read = <T>(name: string, cells: ReadLeaf<T>, readText: ReadText<unknown>) => {
      const about = columns.find(({ meta_data: of }) => of?.path_in_schema.join('.') === name)?.meta_data;
      // Not damage: the caller requested a column that the table does not have.
      if (about === undefined) throw new Error(`${key}: expected a column ${name}, got none`);
      return damagedIfThrown(key, () =>
        cells({ buffer, about, path: pathIn(schema, name.split('.')), unpack }, readText),
      );
    };
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

/** Decodes a string of a column. */
export const asText: ReadText<string> = (utf8) =>
  Buffer.from(utf8.buffer, utf8.byteOffset, utf8.byteLength).toString('utf8');

function unpacked(pages: Uint8Array[], page: Uint8Array, sizeBytes: number): Uint8Array {
  // Large enough for one chunk. By default the page would be put together from many chunks.
  const chunkSize = sizeBytes + MIN_CHUNK_BYTES;
  const bytes = zstdDecompressSync(page, { chunkSize, maxOutputLength: Math.max(1, sizeBytes) });
  pages.push(bytes);
  return bytes;
}

const MIN_CHUNK_BYTES = 64;

function damagedIfThrown<T>(key: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new StoredObjectError('invalid', `${key}: expected Parquet, got something else`, { cause });
  }
}

/**
 * Converts a string of a column. The argument is its UTF-8, as a view that becomes invalid when the next row group is
 * read.
 */
type ReadText<T> = (utf8: Uint8Array) => T;

/** Returns the value of a column in a row of its row group. It is valid until the next row group is read. */
type CellAt<T> = (row: number) => T;

/** A leaf column of a row group. */
type LeafInFile = {
  readonly buffer: ArrayBuffer;
  readonly about: ColumnMetaData;
  /** The elements of the schema from the root to the leaf. */
  readonly path: readonly SchemaTree[];
  readonly unpack: (page: Uint8Array, sizeBytes: number) => Uint8Array;
};

/**
 * The cells of a leaf column. It has one page and possibly a dictionary, since `writeLeaf` writes it so. A cell is read
 * from the page only when it is requested: hyparquet's arrays would take a third of the memory and a fifth of the time
 * of a report. `readText` is called for each string of the dictionary or, without a dictionary, for each cell.
 */
function leafCells(leaf: LeafInFile, readText: ReadText<unknown>): CellAt<unknown> {
  const { valueAt, page } = openLeaf(leaf, readText);
  return cellsOf(valueAt, valueNumbers(page));
}

/** The cells of a leaf within a list: for each row an array of values, with null for an element without a value. */
function leafLists(leaf: LeafInFile, readText: ReadText<unknown>): CellAt<readonly unknown[]> {
  const { valueAt, page } = openLeaf(leaf, readText);
  const cellAt = cellsOf(valueAt, valueNumbers(page));
  const { definitions, repetitions } = page;
  const list = leaf.path.findIndex(({ element }) => element.repetition_type === 'REPEATED');
  const isElement = definitionOf(leaf.path.slice(0, list + 1));
  const starts = [...repetitions.keys().filter((entry) => repetitions[entry] === 0), repetitions.length];
  return (row) => {
    const found: unknown[] = [];
    for (let entry = starts[row] ?? 0; entry < (starts[row + 1] ?? 0); entry += 1)
      if ((definitions[entry] ?? 0) >= isElement) found.push(cellAt(entry));
    return found;
  };
}

function openLeaf(leaf: LeafInFile, readText: ReadText<unknown>) {
  const { dictionary_page_offset: dictionaryAt, data_page_offset } = leaf.about;
  const page = openPage(leaf, data_page_offset);
  if (dictionaryAt === undefined) return { page, valueAt: plainValues(leaf, page, readText) };
  const texts = openPage(leaf, dictionaryAt);
  const textAt = textsIn(texts, readText);
  return {
    page,
    valueAt: valuesIn(
      page,
      Array.from({ length: texts.count }, (_, number) => textAt(number)),
    ),
  };
}

/** The cell of each entry: its value, or null if it has none. */
function cellsOf(valueAt: CellAt<unknown>, numbers: Uint32Array | undefined): CellAt<unknown> {
  if (numbers === undefined) return valueAt;
  return (at) => {
    const number = numbers[at] ?? 0;
    return number === 0 ? null : valueAt(number - 1);
  };
}

type Page = {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** The number of values, without nulls. */
  readonly count: number;
  readonly definitions: Uint8Array;
  readonly repetitions: Uint8Array;
  /** The definition level of an entry that has a value. */
  readonly definition: number;
};

function openPage({ buffer, path, unpack }: LeafInFile, offset: bigint): Page {
  const header = readPageHeader(new Uint8Array(buffer), Number(offset));
  const { end, values, nulls, repetitionBytes, definitionBytes } = header;
  const before = repetitionBytes + definitionBytes;
  const packed = new Uint8Array(buffer, end + before, header.packedBytes - before);
  const bytes = unpack(packed, header.sizeBytes - before);
  const definition = definitionOf(path);
  return {
    bytes,
    view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    count: values - nulls,
    repetitions: levelsIn(new Uint8Array(buffer, end, repetitionBytes), 1, values),
    definitions: levelsIn(new Uint8Array(buffer, end + repetitionBytes, definitionBytes), definition, values),
    definition,
  };
}

function levelsIn(bytes: Uint8Array, max: number, count: number): Uint8Array {
  const levels = new Uint8Array(count);
  if (bytes.length > 0) readNumbers(bytes, 0, bitsOf(max), levels);
  return levels;
}

/** The elements of the schema from its root to a leaf. */
function pathIn(schema: SchemaTree, names: readonly string[]): readonly SchemaTree[] {
  const path = [schema];
  for (const name of names) {
    const child = path.at(-1)?.children.find(({ element }) => element.name === name);
    if (child === undefined) throw new Error(`expected an element ${name} in the schema, got none`);
    path.push(child);
  }
  return path;
}

/** The definition level of a value at the end of a path. */
const definitionOf = (path: readonly SchemaTree[]): number =>
  path.slice(1).filter(({ element }) => element.repetition_type !== 'REQUIRED').length;

/** For each entry, the number of its value (1 is the first); 0 for null. Undefined if every entry has a value. */
function valueNumbers({ definitions, definition, count }: Page): Uint32Array | undefined {
  if (count === definitions.length) return undefined;
  const numbers = new Uint32Array(definitions.length);
  for (let at = 0, next = 1; at < numbers.length; at += 1)
    if (definitions[at] === definition) {
      numbers[at] = next;
      next += 1;
    }
  return numbers;
}

function plainValues({ about, path }: LeafInFile, page: Page, readText: ReadText<unknown>): CellAt<unknown> {
  const { bytes, view } = page;
  switch (about.type) {
    case 'BOOLEAN':
      return (index) => ((bytes[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
    case 'INT64':
      return path.at(-1)?.element.converted_type === 'TIMESTAMP_MILLIS'
        ? (index) => Number(view.getBigInt64(8 * index, true))
        : (index) => view.getBigInt64(8 * index, true);
    default:
      return textsIn(page, readText);
  }
}

/** The strings of a page; each is preceded by its length in four bytes. */
function textsIn({ bytes, view, count }: Page, readText: ReadText<unknown>): CellAt<unknown> {
  const starts = new Uint32Array(count);
  for (let at = 0, index = 0; index < count; index += 1) {
    starts[index] = at + LENGTH_BYTES;
    at += LENGTH_BYTES + view.getUint32(at, true);
  }
  return (index) => {
    const start = starts[index] ?? 0;
    const length = view.getUint32(start - LENGTH_BYTES, true);
    return readText(new Uint8Array(bytes.buffer, bytes.byteOffset + start, length));
  };
}

/** The values of a page that contains indexes into a dictionary. */
function valuesIn({ bytes, count }: Page, dictionary: readonly unknown[]): CellAt<unknown> {
  const numbers = new Uint32Array(count);
  const [width = 0] = bytes;
  if (width > 0) readNumbers(bytes, 1, width, numbers);
  return (index) => dictionary[numbers[index] ?? 0];
}
