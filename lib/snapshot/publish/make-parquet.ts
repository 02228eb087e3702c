import { gatherBytes } from '../../bytes/gathered-bytes.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import type { TableColumns } from '../../tables/parquet/fit-lines.ts';
import { createParquetFile } from '../../tables/parquet/parquet-writer.ts';
import { type LineReader, readLines } from '../changes/line-reader.ts';
import type { PartToRead } from '../changes/part-chunks.ts';

/** Parquet, compressed, in memory: no larger than the part by much. `other`: how many members are in `_other`. */
type MadeParquet = { readonly body: Buffer; readonly records: number; readonly other: number };

/**
 * Makes Parquet of a part. Memory holds one row group besides the result. Throws `StoredObjectError` if the part is
 * missing or altered, or a line of it is not JSON.
 */
export async function makeParquet(
  { store, part, signal }: PartToRead,
  columns: TableColumns,
): Promise<MadeParquet> {
  const lines = readLines({ store, parts: [part], signal });
  const file = createParquetFile(columns);
  const gathered = gatherBytes();
  try {
    for (;;) {
      const next = lines.next();
      if (!(typeof next === 'boolean' ? next : await next)) break;
      addLine(lines, file);
      if (!file.isFull()) continue;
      gathered.add(file.flush());
      lines.release();
    }
    gathered.add(file.end());
  } finally {
    await lines.close();
  }
  return { body: gathered.bytes(), ...file.counts() };
}

function addLine({ line, place }: LineReader, file: ReturnType<typeof createParquetFile>): void {
  try {
    file.add(line.json, line.start, line.end);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new StoredObjectError('invalid', `${place()}: expected JSON, got ${cause.message}`, { cause });
  }
}
