import { readHeader } from './csv-header.ts';
import { createCsvReader } from './csv-rows.ts';
import { findEncoding, SAMPLE_BYTES } from './encoding.ts';
import { ndjsonRow } from './ndjson-row.ts';
import { type BadRow, type Row, type RowColumns, requestedColumns, rowFrom } from './row-fields.ts';
import { RowsError } from './rows-error.ts';
import { openSource } from './source-bytes.ts';
import { type SourceLine, sourceLines } from './source-lines.ts';

export type { BadRow, Row } from './row-fields.ts';
export { RowsError } from './rows-error.ts';

export type RowsOptions = RowColumns & {
  /** By default as `name` says, otherwise NDJSON if the first character is `{`. */
  readonly format?: 'csv' | 'ndjson' | undefined;
  /** The source's file name or key. */
  readonly name?: string | undefined;
  /** A label of `TextDecoder`; detected by default. */
  readonly encoding?: string | undefined;
  /** For CSV: one character; by default comma, semicolon, tab or pipe, whichever the header uses. */
  readonly separator?: string | undefined;
};

/**
 * The rows of a CSV (RFC 4180, with a header) or NDJSON source, gzipped or not, in order. A bad row is reported and
 * does not stop the rest; blank lines are skipped. Memory holds the sample for detecting the encoding, and one row.
 * Throws `RowsError` for invalid options, a header that is broken or lacks a column, and broken gzip.
 */
export async function* readRows(
  bytes: AsyncIterable<Uint8Array>,
  options: RowsOptions,
): AsyncGenerator<Row | BadRow> {
  checkSeparator(options.separator);
  await using source = await openSource(bytes, SAMPLE_BYTES);
  const encoding = findEncoding(source.head.subarray(0, SAMPLE_BYTES), options.encoding);
  const lines = sourceLines(source.all(), encoding);
  yield* isNdjson(source.head.subarray(encoding.markBytes), options)
    ? ndjsonRows(lines, options)
    : csvRows(lines, options);
}

async function* ndjsonRows(lines: AsyncIterable<SourceLine>, columns: RowColumns) {
  for await (const line of lines) {
    const row = ndjsonRow(line, columns);
    if (row !== undefined) yield row;
  }
}

async function* csvRows(lines: AsyncIterator<SourceLine>, options: RowsOptions) {
  const reader = createCsvReader(lines);
  const separator = options.separator ?? (/\.tsv(\.gz)?$/i.test(options.name ?? '') ? '\t' : undefined);
  const header = await readHeader(reader, { requested: requestedColumns(options), separator });
  const indexes = new Map(header.names.map((name, index) => [name, index]));
  const fieldCount = header.names.length;
  for await (const row of reader.rows({ separator: header.separator, fieldCount })) {
    if ('fault' in row) yield row;
    else yield rowFrom(row.line, options, (name) => row.fields[indexes.get(name) ?? -1] ?? '');
  }
}

function isNdjson(head: Uint8Array, { format, name = '' }: RowsOptions): boolean {
  if (format !== undefined) return format === 'ndjson';
  const [, ending = ''] = /\.(csv|tsv|ndjson|jsonl)(?:\.gz)?$/i.exec(name) ?? [];
  if (ending !== '') return ['ndjson', 'jsonl'].includes(ending.toLowerCase());
  // Zero bytes are skipped: in UTF-16 they are the other half of an ASCII character.
  const first = head.find((byte) => ![0, 0x20, 0x09, 0x0a, 0x0d].includes(byte));
  return first === 0x7b;
}

function checkSeparator(separator: string | undefined): void {
  if (separator === undefined || /^[^"\r\n]$/u.test(separator)) return;
  const expected = 'one character, not a quote or line ending';
  throw new RowsError({ kind: 'option', option: 'separator', expected, got: JSON.stringify(separator) });
}
