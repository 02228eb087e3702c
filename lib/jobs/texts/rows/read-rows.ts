import { openTable } from './csv-table.ts';
import { notRows } from './file-kind.ts';
import { arrayElements } from './json-array.ts';
import { ndjsonRow } from './ndjson-row.ts';
import { type BadRow, badRow, type Row, type RowColumns, requestedColumns, rowFrom } from './row-fields.ts';
import { RowsError } from './rows-error.ts';
import type { SourceLine } from './source-lines.ts';
import { openText } from './source-text.ts';

export type { BadRow, Row } from './row-fields.ts';
export { RowsError } from './rows-error.ts';

export type RowsOptions = RowColumns & {
  /** By default as `name` says, otherwise by the first character: NDJSON for `{`, a JSON array for `[`. */
  readonly format?: 'csv' | 'ndjson' | undefined;
  /** The source's file name or key. */
  readonly name?: string | undefined;
  /** A label of `TextDecoder`; detected by default. */
  readonly encoding?: string | undefined;
  /** For CSV: one character; by default comma, semicolon, tab or pipe, whichever the header uses. */
  readonly separator?: string | undefined;
};

/** What a source was found to be. */
export type SourceFormat = {
  readonly format: 'csv' | 'ndjson' | 'json';
  /** By its name in `TextDecoder`. */
  readonly encoding: string;
  /** Whether it begins with a byte order mark. */
  readonly isMarked: boolean;
  /** Of a CSV, with its columns in order. */
  readonly separator?: string;
  readonly names?: readonly string[];
};

/** What a row is in its source: the fields of a CSV, JSON as text, or nothing that can be read. */
export type SourceRecord =
  | { readonly kind: 'fields'; readonly fields: readonly string[] }
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'broken' };

/** A row, and all that its source says of it. */
export type RowOfSource = { readonly row: Row | BadRow; readonly record: SourceRecord };

export type OpenRows = AsyncDisposable & {
  readonly format: SourceFormat;
  /** All rows in order, once. */
  readonly rows: () => AsyncGenerator<RowOfSource>;
};

/**
 * Opens a CSV (RFC 4180, with a header), NDJSON, or a JSON array of objects, gzipped or not. A bad row is reported and
 * does not stop the rest; blank lines are skipped. Memory holds the sample for detecting the encoding, and one row.
 * Throws `RowsError` for invalid options, a header that is broken or lacks a column, a file of another kind, and broken
 * gzip or JSON arrays.
 */
export async function openRows(bytes: AsyncIterable<Uint8Array>, options: RowsOptions): Promise<OpenRows> {
  checkSeparator(options.separator);
  const source = await openText(bytes, options.encoding);
  const close = { [Symbol.asyncDispose]: () => source[Symbol.asyncDispose]() };
  try {
    const { encoding } = source;
    const found = { encoding: encoding.name, isMarked: encoding.markBytes > 0 };
    const format = formatOf(source.head.subarray(encoding.markBytes), options);
    if (format === 'csv') {
      const csv = await openCsv(source.lines(), options);
      return { ...csv, format: { format, ...found, ...csv.format }, ...close };
    }
    const lines = format === 'json' ? arrayElements(source.all(), encoding) : source.lines();
    return { format: { format, ...found }, rows: () => jsonRows(lines, format, options), ...close };
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}

/** The rows of a source, in order. Throws `RowsError`, as `openRows` does. */
export async function* readRows(
  bytes: AsyncIterable<Uint8Array>,
  options: RowsOptions,
): AsyncGenerator<Row | BadRow> {
  await using source = await openRows(bytes, options);
  for await (const { row } of source.rows()) yield row;
}

async function* jsonRows(
  lines: AsyncIterable<SourceLine>,
  format: 'ndjson' | 'json',
  columns: RowColumns,
): AsyncGenerator<RowOfSource> {
  let isFirst = true;
  for await (const line of lines) {
    if (isFirst && format === 'ndjson' && line.text.trim() === '{')
      throw notRows('one JSON object over several lines');
    const row = ndjsonRow(line, columns);
    if (row === undefined) continue;
    isFirst = false;
    yield { row, record: line.fault === undefined ? { kind: 'json', text: line.text } : BROKEN };
  }
}

const BROKEN = { kind: 'broken' } as const;

async function openCsv(lines: AsyncIterator<SourceLine>, options: RowsOptions) {
  const {
    separator,
    names,
    rows: read,
  } = await openTable(lines, {
    ...options,
    requested: requestedColumns(options),
  });
  async function* rows(): AsyncGenerator<RowOfSource> {
    const indexes = new Map(names.map((name, index) => [name, index]));
    for await (const row of read()) {
      const { line, fields } = row;
      const record: SourceRecord = fields === undefined ? BROKEN : { kind: 'fields', fields };
      if ('fault' in row) yield { row: withKnown(row, fields, indexes, options), record };
      else yield { row: rowFrom(line, options, (name) => row.fields[indexes.get(name) ?? -1] ?? ''), record };
    }
  }
  return { format: { separator, names }, rows };
}

/**
 * A broken row with what can be read of it. One with too many or too few fields most likely has a separator or a line
 * end in its text, so the fields before that are where they belong.
 */
function withKnown(
  { line, fault }: BadRow,
  fields: readonly string[] | undefined,
  indexes: ReadonlyMap<string, number>,
  options: RowColumns,
): BadRow {
  const end = Math.min(indexes.get(options.text) ?? 0, fields?.length ?? 0);
  return badRow({ line, fault }, options, (name) => {
    const index = indexes.get(name);
    return index !== undefined && index < end ? fields?.[index] : undefined;
  });
}

function formatOf(head: Uint8Array, { format, name = '' }: RowsOptions): SourceFormat['format'] {
  if (format !== undefined) return format;
  const [, ending = ''] = /\.(csv|tsv|ndjson|jsonl)(?:\.gz)?$/i.exec(name) ?? [];
  if (/^[ct]sv$/i.test(ending)) return 'csv';
  // Zero bytes are skipped: in UTF-16 they are the other half of an ASCII character.
  const first = head.find((byte) => ![0, 0x20, 0x09, 0x0a, 0x0d].includes(byte));
  // A line of NDJSON with a row is an object.
  if (first === 0x5b) return 'json';
  return ending !== '' || first === 0x7b ? 'ndjson' : 'csv';
}

function checkSeparator(separator: string | undefined): void {
  if (separator === undefined || /^[^"\r\n]$/u.test(separator)) return;
  const expected = 'one character, not a quote or line ending';
  throw new RowsError({ kind: 'option', option: 'separator', expected, got: JSON.stringify(separator) });
}
