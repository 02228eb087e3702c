import { constants, zstdCompressSync } from 'node:zlib';
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import type { writeColumn } from 'hyparquet-writer/src/column.js';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { freeMemory, gatherBytes, type JsonBytes } from '../../base/bytes/index.ts';
import { createLineFitter } from './fit-lines.ts';
import { parquetSchema, type TableColumns } from './hive-type.ts';
import {
  addBoolean,
  addInteger,
  addLevels,
  bitsOf,
  createBooleanLeaf,
  createIntegerLeaf,
  type Leaf,
  levelsOf,
  type SHIFTS,
} from './leaf.ts';
import { addSpan, createTextLeaf } from './text-leaf.ts';
import { memoryOf } from './texts.ts';

export type ColumnWriter = {
  /** Gives the row at hand a value; null, and a value of another type, is none. */
  add(value: string | number | boolean | null): void;
  /** Gives it the text in UTF-8 that is from `start` up to `end`. */
  addSpan(source: JsonBytes, start: number, end: number): void;
};

type PlainTypes<Name extends string> = Readonly<Record<Name, 'string' | 'bigint' | 'boolean'>>;

/** Begins a Parquet file of values that are made here. Memory holds it and one row group. */
export function createColumnFile<Name extends string>(types: PlainTypes<Name>) {
  const leaves: Leaf[] = [];
  const columns = {} as Record<Name, ColumnWriter>;
  for (const [name, type] of Object.entries(types) as [Name, PlainTypes<Name>[Name]][]) {
    const { leaf, ...column } = type === 'string' ? textColumn(name) : numberColumn(name, type);
    leaves.push(leaf);
    columns[name] = column;
  }
  // Rows are short: their number alone ends a row group.
  const { end, endRow } = createRowGroups(types, leaves);
  return {
    columns,
    /** The file, and the next one begins. The same rows give the same bytes. */
    end,
    /** Ends a row: each column has got a value or none. */
    endRow: () => endRow(0),
  };
}

const placeOf = (name: string) => ({ path: [name], definition: 1, repetition: 0 });

function numberColumn(name: string, type: 'bigint' | 'boolean'): ColumnWriter & { readonly leaf: Leaf } {
  const leaf = type === 'bigint' ? createIntegerLeaf(placeOf(name)) : createBooleanLeaf(placeOf(name));
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
  const leaf = createTextLeaf(placeOf(name));
  let scratch = memoryOf(FIRST_SCRATCH);
  return {
    leaf,
    addSpan: (source, start, end) => addSpan(leaf.column, 0, source, start, end),
    add(value) {
      if (typeof value !== 'string') return addLevels(leaf.levels, 0, 0);
      // A UTF-16 unit takes at most three bytes.
      if (3 * value.length > scratch.bytes.length) scratch = memoryOf(3 * value.length);
      addSpan(leaf.column, 0, scratch, 0, scratch.bytes.write(value));
    },
  };
}

const FIRST_SCRATCH = 1_024;

/** A row group ends with the line that makes it so large: memory holds one, and no more. */
const MAX_ROWS = 20_000;
const MAX_BYTES = 16_000_000;

/** Parquet of lines, compressed, in memory. `other`: how many of their members are in `_other`. */
export type MadeParquet = { readonly body: Buffer; readonly records: number; readonly other: number };

/** Begins a Parquet file with the columns of a table: zstd, in row groups of bounded size. Memory holds it and one of these. */
export function createParquetFile(columns: TableColumns) {
  const fitter = createLineFitter(columns);
  const rows = createRowGroups(columns, fitter.leaves);
  let other = 0;
  return {
    fitter,
    /** Adds the row of a JSON line, as the fitter fits it. Throws `SyntaxError` if it is not JSON. */
    add(json: JsonBytes, start: number, end: number): void {
      other += fitter.add(json, start, end);
    },
    /** Ends the row of a line of so many bytes: its leaves may be cleared. */
    endRow: rows.endRow,
    /** The file, and the next one begins. The same lines give the same bytes. */
    end(): MadeParquet {
      const made = { ...rows.end(), other };
      other = 0;
      return made;
    },
  };
}

/** A file of the rows that are added to leaves, which forget them whenever there are enough for a row group. */
function createRowGroups(columns: TableColumns, leaves: readonly Leaf[]) {
  const out = new ByteWriter();
  const memory = { page: new ByteWriter(), levels: new ByteWriter() };
  let gathered = gatherBytes();
  let groups: ReturnType<typeof writeRowGroup>[] = [];
  let [records, rows, bytes] = [0, 0, 0];

  function gather(): void {
    gathered.add(out.getBytes());
    out.index = 0;
  }

  function write(): void {
    if (rows > 0) groups.push(writeRowGroup(out, leaves, rows, memory));
    for (const leaf of leaves) leaf.clear();
    [rows, bytes] = [0, 0];
    gather();
  }

  function restart(): void {
    for (const leaf of leaves) leaf.clear();
    gathered = gatherBytes();
    groups = [];
    [records, rows, bytes] = [0, 0, 0];
    [out.offset, out.index] = [0, 0];
    out.appendUint32(PAR1);
  }

  restart();
  return {
    endRow(sizeBytes: number): void {
      records += 1;
      rows += 1;
      bytes += sizeBytes;
      if (rows >= MAX_ROWS || bytes >= MAX_BYTES) write();
    },
    /** The file, and the next one begins. */
    end() {
      write();
      const about = { version: 2, created_by: CREATED_BY, num_rows: BigInt(records), metadata_length: 0 };
      writeMetadata(out, { ...about, schema: parquetSchema(columns), row_groups: groups });
      out.appendUint32(PAR1);
      gather();
      const made = { body: gathered.bytes(), records };
      restart();
      return made;
    },
  };
}

/** Returns what the footer says of a row group. */
function writeRowGroup(out: ByteWriter, leaves: readonly Leaf[], rows: number, memory: LeafMemory) {
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

const PAR1 = 0x31_52_41_50;
const CREATED_BY = 'platform-sync version 1.0.0';

type ColumnChunk = ReturnType<typeof writeColumn>['chunk'];

/** Memory in which one leaf after another is encoded: its page, and its levels. */
type LeafMemory = { readonly page: ByteWriter; readonly levels: ByteWriter };

/** A dictionary, if the leaf has one, and one page. Returns what the footer says of it. */
function writeLeaf(out: ByteWriter, leaf: Leaf, rows: number, memory: LeafMemory): ColumnChunk {
  const start = out.offset;
  const { page, dictionary, count } = leaf.encoded(emptied(memory.page));
  const encoding = dictionary === undefined ? 'PLAIN' : 'RLE_DICTIONARY';
  const dictionaryBytes =
    dictionary === undefined
      ? 0
      : writePage(out, dictionary.page, {
          type: 'DICTIONARY_PAGE',
          dictionary_page_header: { num_values: dictionary.count, encoding: 'PLAIN' },
        });
  const dataStart = out.offset;
  const levels = emptied(memory.levels);
  const repetitionBytes = writeLevels(levels, leaf, 'repetition');
  const definitionBytes = writeLevels(levels, leaf, 'definition');
  const about = {
    type: 'DATA_PAGE_V2',
    data_page_header_v2: {
      num_values: leaf.levels.count,
      num_nulls: leaf.levels.count - count,
      num_rows: rows,
      encoding,
      definition_levels_byte_length: definitionBytes,
      repetition_levels_byte_length: repetitionBytes,
      is_compressed: true,
    },
  } as const;
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

function emptied(writer: ByteWriter): ByteWriter {
  writer.index = 0;
  writer.offset = 0;
  return writer;
}

type PageHeader = Parameters<typeof writePageHeader>[1];

const NO_LEVELS = new Uint8Array(0);

/** Writes a page: its header, its levels as they are, and its values compressed. Returns its bytes, uncompressed. */
function writePage(
  out: ByteWriter,
  page: Uint8Array,
  about: Omit<PageHeader, 'uncompressed_page_size' | 'compressed_page_size'>,
  levels = NO_LEVELS,
): number {
  const packed = pack(page);
  const start = out.offset;
  writePageHeader(out, {
    ...about,
    uncompressed_page_size: levels.length + page.byteLength,
    compressed_page_size: levels.length + packed.byteLength,
  });
  const headerBytes = out.offset - start;
  out.appendBytes(levels);
  out.appendBytes(packed);
  freeMemory(packed);
  return headerBytes + levels.length + page.byteLength;
}

/** Nothing if there is but one level. */
function writeLevels(out: ByteWriter, leaf: Leaf, which: keyof typeof SHIFTS): number {
  const most = leaf[which];
  return most === 0 ? 0 : writeRleBitPackedHybrid(out, levelsOf(leaf, which), bitsOf(most));
}

/** In one step and without copies on the way, since there is room for all of it: zstd needs 1/256 more at most, and a bit. */
const pack = (page: Uint8Array): Buffer =>
  zstdCompressSync(page, { chunkSize: page.byteLength + (page.byteLength >> 8) + 1_024, params: PARAMS });

const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 };
