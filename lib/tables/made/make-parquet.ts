import { type LineReader, lineOf, readLines } from '../../snapshot/changes/line-reader.ts';
import type { PartToRead } from '../../snapshot/changes/part-chunks.ts';
import { StoredObjectError } from '../../store/index.ts';
import type { TableColumns } from '../parquet/fit-lines.ts';
import { createParquetFile, type MadeParquet, type ParquetFile } from '../parquet/parquet-writer.ts';

/** A part to make Parquet of. `use` gets each of its lines too. */
export type PartToMake = PartToRead & { readonly use?: ((reader: LineReader) => void) | undefined };

/**
 * Makes a function that makes Parquet of one part after another, in the same memory: one row group, besides the result.
 * It throws `StoredObjectError` if a part is missing or altered, or a line of it is not JSON.
 */
export function createParquetMaker(columns: TableColumns): (part: PartToMake) => Promise<MadeParquet> {
  const file = createParquetFile(columns);
  return async ({ store, part, signal, use }) => {
    const lines = readLines({ store, parts: [part], signal });
    file.restart();
    try {
      for (;;) {
        const next = lines.next();
        if (!(typeof next === 'boolean' ? next : await next)) break;
        addLine(lines, file);
        use?.(lines);
        // Its own memory has all of the lines so far.
        if (typeof next !== 'boolean') lines.release();
      }
      return file.end();
    } finally {
      await lines.close();
    }
  };
}

/** Makes Parquet of one part. */
export const makeParquet = (part: PartToRead, columns: TableColumns): Promise<MadeParquet> =>
  createParquetMaker(columns)(part);

function addLine({ line, place }: Pick<LineReader, 'line' | 'place'>, file: ParquetFile): void {
  try {
    file.add(line.json, line.start, line.end);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new StoredObjectError('invalid', `${place()}: expected a record as JSON, got something else`, {
      cause,
    });
  }
}

/** A line of JSON, and where it is, for messages. */
export type PlacedLine = { readonly json: Buffer; readonly place: string };

/**
 * Makes a Parquet file of JSON lines; undefined if there are none. Memory holds it and one row group. Throws
 * `StoredObjectError` if a line is not JSON.
 */
export async function parquetOfLines(
  lines: AsyncIterable<PlacedLine>,
  columns: TableColumns,
  /** Receives what is damaged, and left out; without it, that is thrown. */
  report?: (fault: string) => void,
): Promise<MadeParquet | undefined> {
  const file = createParquetFile(columns);
  for await (const { json, place } of lines) {
    try {
      addLine({ line: lineOf(json), place: () => place }, file);
    } catch (error) {
      if (report === undefined || !(error instanceof StoredObjectError)) throw error;
      report(error.message);
    }
  }
  const made = file.end();
  return made.records === 0 ? undefined : made;
}
