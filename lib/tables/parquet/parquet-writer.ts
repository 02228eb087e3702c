import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import type { JsonBytes } from '../../snapshot/page/json-bytes.ts';
import { createLineFitter, type KnownMembers, type TableColumns } from './fit-lines.ts';
import type { Leaf } from './leaf.ts';
import { parquetSchema } from './parquet-schema.ts';
import { type LeafMemory, writeLeaf } from './write-leaf.ts';

/** A row group ends with the line that makes it so large: memory holds one, and no more. */
const MOST_ROWS = 20_000;
const MOST_BYTES = 16_000_000;

/** One Parquet file that is being written. */
export type ParquetFile = {
  /** Adds the row of a JSON line, as `createLineFitter` fits it. Throws `SyntaxError` if it is not JSON. */
  add(json: JsonBytes, start: number, end: number): void;
  /** True if the rows that were added last are to be written. */
  isFull(): boolean;
  /** Writes these rows: the next bytes of the file, a view until more is written. */
  flush(): Uint8Array;
  /** Writes what is left: the last bytes of the file, a view. */
  end(): Uint8Array;
  /** Forgets everything: what comes next is another file, in the same memory. */
  restart(): void;
  /** How many rows it has, and how many members of their lines are in `_other`. */
  counts(): ParquetCounts;
};

type ParquetCounts = { readonly records: number; readonly other: number };

/** Begins a Parquet file with the columns of a table: zstd, in row groups of bounded size. The same lines give the same bytes. */
export function createParquetFile(columns: TableColumns, known: KnownMembers = {}): ParquetFile {
  const fitter = createLineFitter(columns, known);
  const groups = createRowGroups(columns);
  let [records, other, rows, bytes] = [0, 0, 0, 0];

  return {
    add(json, start, end) {
      other += fitter.add(json, start, end);
      records += 1;
      rows += 1;
      bytes += end - start;
    },
    isFull: () => groups.isFull(rows, bytes),
    flush() {
      const written = groups.write(fitter.leaves, rows);
      [rows, bytes] = [0, 0];
      return written;
    },
    end: () => groups.end(fitter.leaves, rows, records),
    restart() {
      fitter.clear();
      groups.restart();
      [records, other, rows, bytes] = [0, 0, 0, 0];
    },
    counts: () => ({ records, other }),
  };
}

/** The row groups of a file, one after another, and its end: what is returned are views, until the next call. */
export function createRowGroups(columns: TableColumns) {
  const out = new ByteWriter();
  const memory = { page: new ByteWriter(), levels: new ByteWriter() };
  let groups: RowGroup[] = [];
  out.appendUint32(PAR1);

  function add(leaves: readonly Leaf[], rows: number): void {
    if (rows > 0) groups.push(writeRowGroup(out, leaves, rows, memory));
    for (const leaf of leaves) leaf.clear();
  }

  return {
    isFull: (rows: number, bytes: number): boolean => rows >= MOST_ROWS || bytes >= MOST_BYTES,
    /** The bytes of the rows that are in the leaves, which forget them. */
    write(leaves: readonly Leaf[], rows: number): Uint8Array {
      add(leaves, rows);
      return takenFrom(out);
    },
    /** The last of them, and the footer of a file of so many records. */
    end(leaves: readonly Leaf[], rows: number, records: number): Uint8Array {
      add(leaves, rows);
      const about = { version: 2, created_by: CREATED_BY, num_rows: BigInt(records), metadata_length: 0 };
      writeMetadata(out, { ...about, schema: parquetSchema(columns), row_groups: groups });
      out.appendUint32(PAR1);
      return takenFrom(out);
    },
    /** What comes next is another file. */
    restart(): void {
      groups = [];
      [out.offset, out.index] = [0, 0];
      out.appendUint32(PAR1);
    },
  };
}

function takenFrom(out: ByteWriter): Uint8Array {
  const written = out.getBytes();
  out.index = 0;
  return written;
}

/** What the footer says of a row group. */
type RowGroup = ReturnType<typeof writeRowGroup>;

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

/** The letters at both ends of a file. */
const PAR1 = 0x31_52_41_50;
const CREATED_BY = 'platform-sync version 1.0.0';
