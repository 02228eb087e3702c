import { gatherBytes } from '../../bytes/gathered-bytes.ts';
import type { Line } from '../../snapshot/changes/line-reader.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import type { KnownMembers, TableColumns } from '../parquet/fit-lines.ts';
import { createParquetFile } from '../parquet/parquet-writer.ts';

/** A line, and where it is, for messages. */
export type PlacedLine = { readonly line: Line; readonly place: string };

/** A Parquet file in memory. `other`: how many members are in `_other`. */
export type ParquetOfLines = { readonly body: Buffer; readonly records: number; readonly other: number };

/**
 * Makes a Parquet file of JSON lines; undefined if there are none. Memory holds it and one row group. Throws
 * `StoredObjectError` if a line is not JSON.
 */
export async function parquetOfLines(
  lines: AsyncIterable<PlacedLine>,
  columns: TableColumns,
  known: KnownMembers = {},
): Promise<ParquetOfLines | undefined> {
  const file = createParquetFile(columns, known);
  const gathered = gatherBytes();
  for await (const { line, place } of lines) {
    try {
      file.add(line.json, line.start, line.end);
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause;
      throw new StoredObjectError('invalid', `${place}: expected JSON, got ${cause.message}`, { cause });
    }
    if (file.isFull()) gathered.add(file.flush());
  }
  const { records, other } = file.counts();
  if (records === 0) return undefined;
  gathered.add(file.end());
  return { body: gathered.bytes(), records, other };
}
