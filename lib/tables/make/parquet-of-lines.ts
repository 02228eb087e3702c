import { gatherBytes } from '../../bytes/gathered-bytes.ts';
import { lineOf } from '../../snapshot/changes/line-reader.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import type { MadeParquet } from '../made/make-parquet.ts';
import type { KnownMembers, TableColumns } from '../parquet/fit-lines.ts';
import { createParquetFile } from '../parquet/parquet-writer.ts';
import type { FileToMake } from './make-folder.ts';

/** A line of JSON, and where it is, for messages. */
export type PlacedLine = { readonly json: Buffer; readonly place: string };

/** Receives what is missing or damaged, and left out; without it, that is thrown. */
export type Report = ((fault: string) => void) | undefined;

/** A file to make of lines. */
export type LinesToMake = FileToMake & {
  /** The bytes of what goes in. */
  readonly bytes: number;
  /** What goes in. Throws `SourceChangedError` if something is gone that was there before. */
  readonly lines: (report?: Report) => AsyncIterable<PlacedLine>;
};

/**
 * Makes a Parquet file of JSON lines; undefined if there are none. Memory holds it and one row group. Throws
 * `StoredObjectError` if a line is not JSON.
 */
export async function parquetOfLines(
  lines: AsyncIterable<PlacedLine>,
  columns: TableColumns,
  { known = {}, report }: { readonly known?: KnownMembers; readonly report?: Report } = {},
): Promise<MadeParquet | undefined> {
  const file = createParquetFile(columns, known);
  const gathered = gatherBytes();
  for await (const { json, place } of lines) {
    const line = lineOf(json);
    try {
      file.add(line.json, line.start, line.end);
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause;
      const fault = `${place}: expected JSON, got ${cause.message}`;
      if (report === undefined) throw new StoredObjectError('invalid', fault, { cause });
      report(fault);
    }
    if (file.isFull()) gathered.add(file.flush());
  }
  const { records, other } = file.counts();
  if (records === 0) return undefined;
  gathered.add(file.end());
  return { body: gathered.bytes(), records, other };
}
