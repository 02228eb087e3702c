import { type LineReader, lineOf, readLines } from '../../snapshot/changes/line-reader.ts';
import type { PartToRead } from '../../snapshot/changes/part-chunks.ts';
import { StoredObjectError } from '../../store/index.ts';
import type { TableColumns } from '../parquet/hive-type.ts';
import { createParquetFile, type MadeParquet } from '../parquet/parquet-writer.ts';

/** Takes the current line of a part. */
type SeeLine = (reader: LineReader) => void;

/**
 * One part after another in the same memory: one row group, besides the result. `see` gets each line, too. Throws
 * `StoredObjectError`.
 */
export function createParquetMaker(
  columns: TableColumns,
  see?: SeeLine | undefined,
): (part: PartToRead) => Promise<MadeParquet> {
  const file = createParquetFile(columns);
  return async (part) => {
    await eachLine(part, (lines) => {
      const { json, start, end } = lines.line;
      file.add(json, start, end);
      see?.(lines);
      file.endRow(end - start);
    });
    return file.end();
  };
}

/** Reads a part for what copies from its lines. Throws `StoredObjectError`, also where `see` throws `SyntaxError`. */
export async function eachLine({ store, part, signal }: PartToRead, see: SeeLine): Promise<void> {
  const lines = readLines({ store, parts: [part], signal });
  try {
    for (;;) {
      const next = lines.next();
      if (!(typeof next === 'boolean' ? next : await next)) return;
      see(lines);
      if (typeof next !== 'boolean') lines.release();
    }
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new StoredObjectError('invalid', `${lines.place()}: ${NO_RECORD}`, { cause });
  } finally {
    await lines.close();
  }
}

export const makeParquet = (part: PartToRead, columns: TableColumns): Promise<MadeParquet> =>
  createParquetMaker(columns)(part);

/** A line of JSON, and where it is, for messages. */
export type PlacedLine = { readonly json: Buffer; readonly place: string };

/** Makes Parquet of JSON lines; undefined if there are none. `report` receives those that are no JSON, which are left out. */
export async function parquetOfLines(
  lines: AsyncIterable<PlacedLine>,
  columns: TableColumns,
  report: (fault: string) => void,
): Promise<Buffer | undefined> {
  const file = createParquetFile(columns);
  // Before it is added: what is added is not taken back.
  for await (const { json, place } of lines)
    if (isJson(json)) {
      file.add(lineOf(json).json, 0, json.length);
      file.endRow(json.length);
    } else report(`${place}: ${NO_RECORD}`);
  const { body, records } = file.end();
  return records === 0 ? undefined : body;
}

const NO_RECORD = 'expected a record as JSON, got something else';

function isJson(json: Buffer): boolean {
  try {
    JSON.parse(json.toString());
    return true;
  } catch {
    return false;
  }
}
