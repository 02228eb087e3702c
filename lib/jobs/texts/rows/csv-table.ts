import { readHeader } from './csv-header.ts';
import { type CsvRow, createCsvReader } from './csv-rows.ts';
import { findEncoding, SAMPLE_BYTES } from './encoding.ts';
import { refuseOtherKinds } from './file-kind.ts';
import { openSource } from './source-bytes.ts';
import { type SourceLine, sourceLines } from './source-lines.ts';

export type TableOptions = {
  /** Columns that there must be. */
  readonly requested: readonly string[];
  readonly name?: string | undefined;
  readonly separator?: string | undefined;
  readonly encoding?: string | undefined;
};

/** A CSV whose header was read. */
export type CsvTable = {
  readonly separator: string;
  readonly names: readonly string[];
  /** Its rows in order, once, each with as many fields as there are names, or a fault. */
  readonly rows: () => AsyncGenerator<CsvRow>;
};

/** Reads the header of a CSV. Throws `RowsError`, as `readHeader` does. */
export async function openTable(
  lines: AsyncIterator<SourceLine>,
  { requested, name = '', separator: given }: TableOptions,
): Promise<CsvTable> {
  const reader = createCsvReader(lines);
  const byName = /\.tsv(\.gz)?$/i.test(name) ? '\t' : undefined;
  const { separator, names } = await readHeader(reader, { requested, separator: given ?? byName });
  return { separator, names, rows: () => reader.rows({ separator, fieldCount: names.length }) };
}

/** The same for bytes, gzipped or not, in any encoding that `findEncoding` finds. */
export async function openTableFile(
  bytes: AsyncIterable<Uint8Array>,
  options: TableOptions,
): Promise<CsvTable & AsyncDisposable> {
  const source = await openSource(bytes, SAMPLE_BYTES);
  const close = () => source[Symbol.asyncDispose]();
  try {
    refuseOtherKinds(source.head);
    const encoding = findEncoding(source.head.subarray(0, SAMPLE_BYTES), options.encoding);
    const table = await openTable(sourceLines(source.all(), encoding), options);
    return { ...table, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
