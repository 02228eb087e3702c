import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DataFile } from './table.ts';

/** A value that DuckDB makes of text: numbers and times too. */
export type TextValue = string | readonly string[] | Readonly<Record<string, string>> | null;

/** A row, by the names of its columns. */
export type TextRow = Readonly<Record<string, TextValue>>;

/** Writes rows to a new file in `folder`, as lines of JSON. */
export async function writeRows(folder: string, rows: AsyncIterable<TextRow>): Promise<DataFile> {
  const path = join(folder, `rows-${randomUUID()}.ndjson`);
  let sizeBytes = 0;
  let longestLine = 0;
  await pipeline(async function* () {
    for await (const row of rows) {
      const line = Buffer.from(`${JSON.stringify(row)}\n`);
      sizeBytes += line.byteLength;
      longestLine = Math.max(longestLine, line.byteLength);
      yield line;
    }
  }, createWriteStream(path));
  return { path, sizeBytes, longestLine };
}
