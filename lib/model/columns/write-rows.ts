import { gatherBytes } from '../../bytes/gathered-bytes.ts';
import type { TableColumns } from '../../tables/parquet/fit-lines.ts';
import { createParquetFile } from '../../tables/parquet/parquet-writer.ts';

/** Lines are encoded together: one at a time takes twice the time. */
const MOST_CHARACTERS = 65_536;

/** One Parquet file of rows that are made here. */
export type RowWriter = {
  /** Adds a row: a JSON object in one line. */
  add(row: string): void;
  /** The file, and the next one begins. Rows in the order in which they were added; the same rows give the same bytes. */
  end(): MadeRows;
};

/** A Parquet file in memory. */
export type MadeRows = { readonly body: Buffer<ArrayBuffer>; readonly records: number };

/** Begins a Parquet file with the columns of a table. Memory holds it and one row group. */
export function createRowWriter(columns: TableColumns): RowWriter {
  const file = createParquetFile({ ...columns, _other: 'string' });
  let gathered = gatherBytes();
  let lines = '';

  function flush(): void {
    const bytes = Buffer.from(lines);
    const json = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
    lines = '';
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LINE_FEED, start);
      file.add(json, start, end);
      start = end + 1;
    }
    if (file.isFull()) gathered.add(file.flush());
  }

  return {
    add(row) {
      lines += row;
      lines += '\n';
      if (lines.length >= MOST_CHARACTERS) flush();
    },
    end() {
      flush();
      const { records } = file.counts();
      gathered.add(file.end());
      const body = gathered.bytes();
      file.restart();
      gathered = gatherBytes();
      return { body, records };
    },
  };
}

const LINE_FEED = 0x0a;
