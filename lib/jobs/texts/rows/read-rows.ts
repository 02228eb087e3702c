import {
  type CsvForm,
  notRows,
  type OddRows,
  openTable,
  openText,
  type TextForm,
  type TextLines,
} from '../../../text/index.ts';
import { compareIds, type RepeatedIds } from './repeated-ids.ts';
import { type BadRow, badRow, jsonRow, type Row, type RowColumns, requestedColumns, rowFrom } from './row.ts';

export type RowsOptions = RowColumns & {
  /** By default as `name` says, otherwise by the first character. */
  readonly format?: 'csv' | 'ndjson' | undefined;
  readonly name?: string | undefined;
  /** A label of an encoding; detected by default. */
  readonly encoding?: string | undefined;
  /** For CSV: one character; by default comma, semicolon, tab or pipe, whichever the header uses. */
  readonly separator?: string | undefined;
  /** See `TableOptions`. */
  readonly wholeRows?: boolean | undefined;
};

type SourceFormat = TextForm & {
  readonly format: 'csv' | 'ndjson' | 'json';
  /** Of a CSV, with its columns in order. */
  readonly csv?: CsvForm & { readonly names: readonly string[] };
};

/** What a row is in its source: the fields of a CSV, JSON as text, or undefined if it cannot be read. */
export type SourceRecord = readonly string[] | string | undefined;

export type RowOfSource = { readonly row: Row | BadRow; readonly record: SourceRecord };

type OpenRows = AsyncDisposable & {
  readonly format: SourceFormat;
  readonly rows: () => AsyncGenerator<RowOfSource>;
  readonly odd: () => OddRows;
};

/** Opens CSV (RFC 4180, with a header), NDJSON, or a JSON array of objects, gzipped or not. Throws `TextError`. */
export async function openRows(bytes: AsyncIterable<Uint8Array>, options: RowsOptions): Promise<OpenRows> {
  const source = await openText(bytes, options);
  const { encoding, isMarked, isGzipped, doubt, [Symbol.asyncDispose]: close } = source;
  try {
    const format = formatOf(source.head, options);
    const lines = source.lines(format === 'json' ? 'element' : 'line');
    const { rows, odd, csv } =
      format === 'csv'
        ? await openCsv(lines, options)
        : { rows: () => jsonRows(lines, options), odd: () => ({ blank: 0, short: 0 }) };
    const form = { format, encoding, isMarked, isGzipped, doubt, ...(csv === undefined ? {} : { csv }) };
    return { format: form, rows, odd, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function* jsonRows(batches: TextLines, columns: RowsOptions): AsyncGenerator<RowOfSource> {
  let isFirst = true;
  for await (const lines of batches)
    for (const { number: line, text, fault } of lines) {
      // An element of an array has its closing brace.
      if (isFirst && text.trim() === '{')
        throw notRows('one JSON object over several lines', { ...columns, line });
      const row = fault === undefined ? jsonRow(line, text, columns) : { line, fault };
      if (row === undefined) continue;
      isFirst = false;
      yield { row, record: fault === undefined ? text : undefined };
    }
}

async function openCsv(lines: TextLines, options: RowsOptions) {
  const table = await openTable(lines, { ...options, requested: requestedColumns(options) });
  const { names, odd } = table;
  const indexes = new Map(names.map((name, index) => [name, index]));
  const indexOf = (name: string) => indexes.get(name) ?? 0;
  async function* rows(): AsyncGenerator<RowOfSource> {
    for await (const read of table.rows()) {
      const { line, fields } = read;
      // One with too many or too few fields most likely has a separator or a line end in its text, so those before that
      // are where they belong.
      const end = indexOf(options.text);
      const row =
        'fault' in read
          ? badRow(read, options, (name) => (indexOf(name) < end ? fields?.[indexOf(name)] : undefined))
          : rowFrom(line, options, (name) => read.fields[indexOf(name)]);
      yield { row, record: fields };
    }
  }
  return { csv: table, rows, odd };
}

function formatOf(head: Uint8Array, { format, name = '' }: RowsOptions): SourceFormat['format'] {
  if (format !== undefined) return format;
  const [, ending = ''] = /\.(csv|tsv|ndjson|jsonl)(?:\.gz)?$/i.exec(name) ?? [];
  if (/^[ct]sv$/i.test(ending)) return 'csv';
  // Byte order marks are skipped, and zero bytes: in UTF-16 they are the other half of an ASCII character.
  const first = head.find(
    (byte) => ![0, 0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf, 0xfe, 0xff].includes(byte),
  );
  // A line of NDJSON with a row is an object.
  if (first === 0x5b) return 'json';
  return ending !== '' || first === 0x7b ? 'ndjson' : 'csv';
}

export type InputFound = Pick<SourceFormat, 'format' | 'encoding'> &
  OddRows & {
    readonly separator?: string | undefined;
    /** Rows without a text that were left out, as requested. */
    readonly skipped: number;
    /** Undefined if the rows have no ids of their own. */
    readonly repeatedIds?: RepeatedIds | undefined;
  };

export type InputOptions = RowsOptions & {
  /** Leaves out rows whose text is blank or null. */
  readonly skipEmpty?: boolean | undefined;
};

/** A source of texts that can be read more than once. `found`: what it was found to be by the last whole reading. */
export type Input = {
  readonly rows: () => AsyncGenerator<Row | BadRow>;
  readonly found: () => InputFound | undefined;
};

/** `open` gives the same bytes each time. */
export function createInput(open: () => AsyncIterable<Uint8Array>, options: InputOptions): Input {
  let latest: InputFound | undefined;
  return {
    async *rows() {
      await using source = await openRows(open(), options);
      const ids = options.id === undefined ? undefined : compareIds();
      let skipped = 0;
      for await (const { row } of source.rows()) {
        if ('fault' in row && row.isEmpty && options.skipEmpty) {
          skipped += 1;
          continue;
        }
        if (row.id !== undefined) ids?.add(row.id, row.line);
        yield row;
      }
      const { format, encoding, csv } = source.format;
      const about = { format, encoding, separator: csv?.separator, ...source.odd() };
      latest = { ...about, skipped, repeatedIds: ids?.found() };
    },
    found: () => latest,
  };
}
