import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { gatherBytes } from '../../base/index.ts';
import type { JsonBytes } from '../../snapshot/page/json-bytes.ts';
import { createLineFitter, type TableColumns } from './fit-lines.ts';
import type { Leaf } from './leaf.ts';
import { parquetSchema } from './parquet-schema.ts';
import { type LeafMemory, writeLeaf } from './write-leaf.ts';

/** A row group ends with the line that makes it so large: memory holds one, and no more. */
const MOST_ROWS = 20_000;
const MOST_BYTES = 16_000_000;

/** Parquet of lines, compressed, in memory. `other`: how many of their members are in `_other`. */
export type MadeParquet = { readonly body: Buffer; readonly records: number; readonly other: number };

/** Begins a Parquet file with the columns of a table: zstd, in row groups of bounded size. Memory holds it and one of these. */
export function createParquetFile(columns: TableColumns) {
  const fitter = createLineFitter(columns);
  const rows = createRowGroups(columns, fitter.leaves);
  let other = 0;
  return {
    /** Adds the row of a JSON line, as `createLineFitter` fits it. Throws `SyntaxError` if it is not JSON. */
    add(json: JsonBytes, start: number, end: number): void {
      other += fitter.add(json, start, end);
      rows.endRow(end - start);
    },
    /** The file, and the next one begins. The same lines give the same bytes. */
    end(): MadeParquet {
      const made = { ...rows.end(), other };
      other = 0;
      return made;
    },
    /** Forgets the file. */
    restart(): void {
      other = 0;
      rows.restart();
    },
  };
}

/** A file of the rows that are added to leaves, which forget them whenever there are enough for a row group. */
export function createRowGroups(columns: TableColumns, leaves: readonly Leaf[]) {
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
    restart,
    /** Ends a row that was made of so many bytes. */
    endRow(sizeBytes: number): void {
      records += 1;
      rows += 1;
      bytes += sizeBytes;
      if (rows >= MOST_ROWS || bytes >= MOST_BYTES) write();
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

/** The letters at both ends of a file. */
const PAR1 = 0x31_52_41_50;
const CREATED_BY = 'platform-sync version 1.0.0';
