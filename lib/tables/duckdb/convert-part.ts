import { open } from 'node:fs/promises';
import { type LineReader, readLines } from '../../snapshot/changes/line-reader.ts';
import type { PartToRead } from '../../snapshot/changes/part-chunks.ts';
import type { Columns } from '../../snapshot/sources/source-definition.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { createParquetFile } from '../parquet/parquet-writer.ts';
import type { DataFile } from './table.ts';

/** Writes a part of records as Parquet to `path`. Throws `StoredObjectError` if it is missing, altered, or not JSON. */
export async function convertPart(
  { store, part, signal }: PartToRead,
  columns: Columns,
  path: string,
): Promise<DataFile> {
  const lines = readLines({ store, parts: [part], signal });
  const made = createParquetFile(columns);
  await using file = await open(path, 'w');
  try {
    for (let found = lines.next(); found === true || (await found); found = lines.next()) {
      addLine(lines, made);
      if (!made.isFull()) continue;
      await file.writeFile(made.flush());
      lines.release();
    }
    await file.writeFile(made.end());
  } finally {
    await lines.close();
  }
  return { path, sizeBytes: (await file.stat()).size };
}

function addLine({ line, place }: LineReader, made: ReturnType<typeof createParquetFile>): void {
  try {
    made.add(line.json, line.start, line.end);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new StoredObjectError('invalid', `${place()}: expected JSON, got ${cause.message}`, { cause });
  }
}
