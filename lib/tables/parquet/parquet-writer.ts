import { constants, zstdCompressSync } from 'node:zlib';
import type { RowGroup } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { freeMemory, gatherBytes, type JsonBytes } from '../../base/json/index.ts';
import { createLineFitter } from './fit-lines.ts';
import { parquetSchema, type TableColumns } from './hive-type.ts';
import {
  addBoolean,
  addInteger,
  addLevels,
  addSpan,
  bitsOf,
  createBooleanLeaf,
  createIntegerLeaf,
  createTextLeaf,
  type Leaf,
  MAX_LEVEL,
  SHIFTS,
} from './leaf.ts';
import { writeNumbers, writePageHeader } from './pages.ts';
import { memoryOf } from './texts.ts';

/** Adds the values of one column, row by row. */
export type ColumnWriter = {
  /** Sets the value of the current row. It is null if the argument is null or of another type than the column. */
  add(value: string | number | boolean | null): void;
  /** Sets the value to the UTF-8 string from `start` up to, but not including, `end`. */
  addSpan(source: JsonBytes, start: number, end: number): void;
};

type PlainTypes<Name extends string> = Readonly<Record<Name, 'string' | 'bigint' | 'boolean'>>;

/** Begins a Parquet file of computed values. Memory holds the file and one row group. */
export function createColumnFile<Name extends string>(types: PlainTypes<Name>) {
  const leaves: Leaf[] = [];
  const columns = {} as Record<Name, ColumnWriter>;
  for (const [name, type] of Object.entries(types) as [Name, PlainTypes<Name>[Name]][]) {
    const { leaf, ...column } = type === 'string' ? textColumn(name) : numberColumn(name, type);
    leaves.push(leaf);
    columns[name] = column;
  }
  // Rows are short, so only their number ends a row group.
  const { end, endRow } = createRowGroups(types, leaves);
  return {
    columns,
    /** Returns the file, and begins the next one. The same rows lead to the same bytes. */
    end,
    /** Ends a row; columns that were not set are null. */
    endRow: () => endRow(0),
  };
}

const positionOf = (name: string) => ({ path: [name], definition: 1, repetition: 0 });

function numberColumn(name: string, type: 'bigint' | 'boolean'): ColumnWriter & { readonly leaf: Leaf } {
  const leaf = type === 'bigint' ? createIntegerLeaf(positionOf(name)) : createBooleanLeaf(positionOf(name));
  const { values, levels } = leaf;
  const none = () => addLevels(levels, 0, 0);
  return {
    leaf,
    addSpan: none,
    add(value) {
      if (typeof value === 'boolean' && type === 'boolean') addBoolean(values, 0, value);
      else if (typeof value === 'number' && type === 'bigint') addInteger(values, 0, value);
      else none();
    },
  };
}

function textColumn(name: string): ColumnWriter & { readonly leaf: Leaf } {
  const leaf = createTextLeaf(positionOf(name));
  let scratch = memoryOf(FIRST_SCRATCH);
  return {
    leaf,
    addSpan: (source, start, end) => addSpan(leaf.column, 0, source, start, end),
    add(value) {
      if (typeof value !== 'string') return addLevels(leaf.levels, 0, 0);
      // A UTF-16 unit takes at most three bytes in UTF-8.
      if (3 * value.length > scratch.bytes.length) scratch = memoryOf(3 * value.length);
      addSpan(leaf.column, 0, scratch, 0, scratch.bytes.write(value));
    },
  };
}

const FIRST_SCRATCH = 1_024;

/** A row group ends with the line that reaches one of these limits. Memory holds one row group. */
const MAX_ROWS = 20_000;
const MAX_BYTES = 16_000_000;

/** A Parquet file in memory, built from lines. `other`: how many members of the lines are in `_other`. */
export type BuiltParquet = { readonly body: Buffer; readonly records: number; readonly other: number };

/**
 * Begins a Parquet file with the columns of a table, compressed by zstd, in row groups of limited size.
 * Memory holds the file and one row group.
 */
export function createParquetFile(columns: TableColumns) {
  const fitter = createLineFitter(columns);
  const rows = createRowGroups(columns, fitter.leaves);
  let other = 0;
  return {
    fitter,
    /** Adds the row of a JSON line, fitted to the columns. Throws `SyntaxError` if it is not JSON. */
    add(json: JsonBytes, start: number, end: number): void {
      other += fitter.add(json, start, end);
    },
    /** Ends the row. `sizeBytes`: the size of its line. If that ends the row group, the leaves are cleared. */
    endRow: rows.endRow,
    /** Returns the file, and begins the next one. The same lines lead to the same bytes. */
    end(): BuiltParquet {
      const built = { ...rows.end(), other };
      other = 0;
      return built;
    },
  };
}

/**
 * Creates a writer of files, from rows that the caller adds to the leaves. It clears the leaves after each row group.
 */
function createRowGroups(columns: TableColumns, leaves: readonly Leaf[]) {
  const out = new ByteWriter();
  const memory = { page: new ByteWriter(), levels: new ByteWriter() };
  const schema = parquetSchema(columns);
  let gathered = gatherBytes();
  let file = begin();
  let rows = 0;
  let bytes = 0;

  /** Begins a file. The library writes only the bytes before and after the row groups. */
  function begin(): ParquetWriter {
    for (const leaf of leaves) leaf.clear();
    gathered = gatherBytes();
    cleared(out);
    return new ParquetWriter({ writer: out, schema, createdBy: CREATED_BY });
  }

  function gather(): void {
    gathered.add(out.getBytes());
    out.index = 0;
  }

  function write(): void {
    if (rows > 0) file.row_groups.push(writeRowGroup(out, leaves, rows, memory));
    for (const leaf of leaves) leaf.clear();
    file.num_rows += BigInt(rows);
    rows = 0;
    bytes = 0;
    gather();
  }

  return {
    endRow(sizeBytes: number): void {
      rows += 1;
      bytes += sizeBytes;
      if (rows >= MAX_ROWS || bytes >= MAX_BYTES) write();
    },
    /** Returns the file, and begins the next one. */
    end() {
      write();
      file.finish();
      gather();
      const built = { body: gathered.bytes(), records: Number(file.num_rows) };
      file = begin();
      return built;
    },
  };
}

/** Writes a row group, and returns its entry for the footer. */
function writeRowGroup(out: ByteWriter, leaves: readonly Leaf[], rows: number, memory: LeafMemory): RowGroup {
  const start = out.offset;
  const columns = leaves.map((leaf) => writeLeaf(out, leaf, rows, memory));
  const sizes = columns.map(({ meta_data: about }) => about?.total_uncompressed_size ?? 0n);
  return {
    columns,
    total_byte_size: sizes.reduce((sum, size) => sum + size, 0n),
    num_rows: BigInt(rows),
    total_compressed_size: BigInt(out.offset - start),
  };
}

const CREATED_BY = 'platform-sync version 1.0.0';

/** Memory in which one leaf after another is encoded: one writer for its page, and one for its levels. */
type LeafMemory = { readonly page: ByteWriter; readonly levels: ByteWriter };

/** Writes the dictionary of a leaf, if it has one, and its page. Returns the leaf's entry for the footer. */
function writeLeaf(
  out: ByteWriter,
  leaf: Leaf,
  rows: number,
  memory: LeafMemory,
): RowGroup['columns'][number] {
  const start = out.offset;
  const { page, dictionary, count } = leaf.encoded(cleared(memory.page));
  const encoding = dictionary === undefined ? 'PLAIN' : 'RLE_DICTIONARY';
  const dictionaryBytes =
    dictionary === undefined
      ? 0
      : writePage(out, dictionary.page, { ...DICTIONARY_HEADER, values: dictionary.count });
  const dataStart = out.offset;
  const levels = cleared(memory.levels);
  const repetitionBytes = writeLevels(levels, leaf, 'repetition');
  const definitionBytes = writeLevels(levels, leaf, 'definition');
  const values = leaf.levels.count;
  const nulls = values - count;
  const about = { kind: 'data', values, nulls, rows, encoding, definitionBytes, repetitionBytes } as const;
  const dataBytes = writePage(out, page, about, levels.getBytes());
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: leaf.type,
      encodings: dictionary === undefined ? ['RLE', 'PLAIN'] : ['RLE', 'PLAIN', encoding],
      path_in_schema: [...leaf.path],
      codec: 'ZSTD',
      num_values: BigInt(leaf.levels.count),
      total_compressed_size: BigInt(out.offset - start),
      total_uncompressed_size: BigInt(dictionaryBytes + dataBytes),
      data_page_offset: BigInt(dataStart),
      ...(dictionary === undefined ? {} : { dictionary_page_offset: BigInt(start) }),
    },
  };
}

function cleared(writer: ByteWriter): ByteWriter {
  writer.index = 0;
  writer.offset = 0;
  return writer;
}

const DICTIONARY_HEADER = {
  kind: 'dictionary',
  nulls: 0,
  rows: 0,
  encoding: 'PLAIN',
  definitionBytes: 0,
  repetitionBytes: 0,
} as const;
const NO_LEVELS = new Uint8Array(0);

/**
 * Writes a page: its header, its levels uncompressed, and its values compressed. Returns its uncompressed
 * size in bytes.
 */
function writePage(
  out: ByteWriter,
  page: Uint8Array,
  about: Omit<Parameters<typeof writePageHeader>[1], 'sizeBytes' | 'packedBytes'>,
  levels = NO_LEVELS,
): number {
  const packed = pack(page);
  const start = out.offset;
  writePageHeader(out, {
    ...about,
    sizeBytes: levels.length + page.byteLength,
    packedBytes: levels.length + packed.byteLength,
  });
  const headerBytes = out.offset - start;
  out.appendBytes(levels);
  out.appendBytes(packed);
  freeMemory(packed);
  return headerBytes + levels.length + page.byteLength;
}

/** One of the two levels of all entries. If the leaf has only that level, it is a view of the entries. */
function levelsOf({ levels, repetition }: Leaf, which: keyof typeof SHIFTS): Uint8Array {
  const { entries, count } = levels;
  if (repetition === 0) return entries.subarray(0, count);
  const shift = SHIFTS[which];
  const found = new Uint8Array(count);
  for (let entry = 0; entry < count; entry += 1) found[entry] = ((entries[entry] ?? 0) >> shift) & MAX_LEVEL;
  return found;
}

/** Writes one of the two levels, and returns its size in bytes; writes nothing if the leaf does not have this level. */
function writeLevels(out: ByteWriter, leaf: Leaf, which: keyof typeof SHIFTS): number {
  const maxLevel = leaf[which];
  return maxLevel === 0 ? 0 : writeNumbers(out, levelsOf(leaf, which), bitsOf(maxLevel));
}

/**
 * Compresses a page in one step, without copies: the buffer is large enough for any output, since zstd adds at most
 * 1/256 and a few bytes.
 */
const pack = (page: Uint8Array): Buffer =>
  zstdCompressSync(page, { chunkSize: page.byteLength + (page.byteLength >> 8) + 1_024, params: PARAMS });

const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 };
