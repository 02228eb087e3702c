import { constants, zstdCompressSync } from 'node:zlib';
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { ParquetWriter } from 'hyparquet-writer/src/parquet-writer.js';
import type { JsonBytes } from '../../snapshot/page/json-bytes.ts';
import { createLineFitter, type KnownMembers, type TableColumns } from './fit-lines.ts';
import { parquetSchema } from './parquet-schema.ts';

/** A row group ends with the line that makes it so large: memory holds one, several times its size. */
const MOST_ROWS = 20_000;
const MOST_BYTES = 8_000_000;

/** One Parquet file that is being written. */
export type ParquetFile = {
  /** Adds the row of a JSON line, as `createLineFitter` fits it. Throws `SyntaxError` if it is not JSON. */
  add(json: JsonBytes, start: number, end: number): void;
  /** True if the rows that were added last are to be written. */
  isFull(): boolean;
  /** Writes these rows: the next bytes of the file. Only then may the memory of their lines be used for something else. */
  flush(): Uint8Array;
  /** Writes what is left: the last bytes of the file. */
  end(): Uint8Array;
  /** How many rows it has, and how many members of their lines are in `_other`. */
  counts(): ParquetCounts;
};

type ParquetCounts = { readonly records: number; readonly other: number };

/** Begins a Parquet file with the columns of a table: zstd, in row groups of bounded size. The same lines give the same bytes. */
export function createParquetFile(columns: TableColumns, known: KnownMembers = {}): ParquetFile {
  const fitter = createLineFitter(columns, known);
  const out = new ByteWriter();
  const writer = new ParquetWriter({
    writer: out,
    schema: parquetSchema(columns),
    codec: 'ZSTD',
    compressors: { ZSTD: packPage },
    createdBy: 'platform-sync version 1.0.0',
  });
  let [records, other, rows, bytes] = [0, 0, 0, 0];

  function writeRows(): void {
    if (rows === 0) return;
    const columnData = fitter.columns.map(({ name, values, hasLong }) => ({
      name,
      data: values,
      // Bounds stay in memory to the end of the file.
      ...(hasLong ? { statistics: false } : {}),
    }));
    writer.write({ columnData, rowGroupSize: rows });
    fitter.clear();
    [rows, bytes] = [0, 0];
  }

  function taken(): Uint8Array {
    const written = Buffer.from(out.getBytes());
    out.index = 0;
    return written;
  }

  return {
    add(json, start, end) {
      other += fitter.add(json, start, end);
      records += 1;
      rows += 1;
      bytes += end - start;
    },
    isFull: () => rows >= MOST_ROWS || bytes >= MOST_BYTES,
    flush() {
      writeRows();
      return taken();
    },
    end() {
      writeRows();
      writer.finish();
      return taken();
    },
    counts: () => ({ records, other }),
  };
}

const packPage = (page: Uint8Array): Uint8Array =>
  zstdCompressSync(page, { params: { [constants.ZSTD_c_compressionLevel]: 3 } });
