import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { shortened } from '../../base/index.ts';
import { isFullDisk } from '../../store/index.ts';
import type { ExactValue, QueryResult } from '../../tables/index.ts';
import {
  type CsvOptions,
  csvCell,
  csvOutput,
  replaceFile,
  safeCell,
  writeTextFile,
} from '../../text/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { counted, inColumns, shown, shownLines, type Terminal } from '../terminal/terminal.ts';

/** Prints a result, or writes it to a file. Stops early if standard output is closed. */
export async function printResult(
  result: QueryResult,
  /** The format. Default: a table for people. */
  format: CsvOptions & {
    readonly json?: true | undefined;
    /** True: print CSV on standard output. A string: the name of the file to write. */
    readonly csv?: true | string | undefined;
    readonly parquet?: string | undefined;
  },
  terminal: Terminal,
): Promise<void> {
  if (format.parquet !== undefined) return writeFile(result, format.parquet, terminal);
  if (typeof format.csv === 'string') return writeCsv(result, format.csv, format, terminal);
  const texts = format.json
    ? jsonOf(result)
    : format.csv
      ? csvOf(result, format, terminal)
      : tableOf(result, terminal);
  for await (const text of texts) {
    terminal.out(text);
    // Wait until the output can take more, so that a large result does not fill the memory.
    if ((await terminal.drained?.()) === false) return;
  }
}

/** Yields a JSON list with an object for each row. */
async function* jsonOf({ columns, batches, rows }: QueryResult): AsyncGenerator<string> {
  let before = '[';
  for await (const batch of batches()) {
    const objects = batch.map((row) =>
      JSON.stringify(Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null]))),
    );
    if (objects.length > 0) yield `${before}${objects.join('\n,')}`;
    before = ',';
  }
  yield rows === 0 ? '[]' : ']';
}

/** Yields CSV lines, which end in CR; the terminal adds the LF. On a terminal, control characters are made harmless. */
async function* csvOf(result: QueryResult, wishes: CsvOptions, { width }: Terminal): AsyncGenerator<string> {
  const safe = width === undefined ? (text: string) => text : shownLines;
  let mark = wishes.csvFor === undefined ? '' : '\uFEFF';
  for await (const lines of csvBlocks(result, wishes)) {
    yield `${mark}${safe(lines.slice(0, -2))}\r`;
    mark = '';
  }
}

/** Writes a CSV file, which appears complete or not at all. */
async function writeCsv(
  result: QueryResult,
  file: string,
  wishes: CsvOptions,
  { out, signal }: Terminal,
): Promise<void> {
  const { isMarked } = csvOutput({ isTabbed: false }, {}, wishes);
  const lines = () => csvBlocks(result, wishes);
  const written = writeTextFile(file, lines, { isGzipped: /\.gz$/i.test(file), isMarked, signal });
  await written.catch(asFlagFault('--csv', file));
  out(`${file}: ${counted(result.rows, 'row')}`);
}

/** Yields the header as a line, then the lines of each batch of rows. */
async function* csvBlocks({ columns, batches }: QueryResult, { csvSafe }: CsvOptions) {
  yield csvRow(
    columns.map(({ name }) => name),
    csvSafe,
  );
  for await (const batch of batches())
    if (batch.length > 0) yield batch.map((row) => csvRow(row, csvSafe)).join('');
}

const asFlagFault = (flag: string, file: string) => (error: unknown) => {
  const isOfFile =
    error instanceof Error && error.message.startsWith(`${file}: `) && !isFullDisk(error.cause);
  throw isOfFile ? new UsageError(`${flag} ${error.message}`, { cause: error }) : error;
};

async function* tableOf({ columns, batches }: QueryResult, terminal: Terminal): AsyncGenerator<string> {
  const names = columns.map(({ name }) => name);
  let table: TextTable | undefined;
  for await (const batch of batches()) {
    table ??= textTable(names, batch, terminal.width);
    yield table.lines(batch).join('\n');
  }
  const shown = table ?? textTable(names, [], terminal.width);
  if (table === undefined) yield shown.lines([]).join('\n');
  const hidden = hiddenColumns(names.length, shown);
  if (hidden !== undefined) terminal.err(hidden);
}

/** The message about columns that are not shown; undefined if all are shown. */
export const hiddenColumns = (all: number, { columns }: TextTable): string | undefined =>
  columns === all
    ? undefined
    : `${all - columns} of ${all} columns are not shown: select fewer columns, or use --json`;

/** Writes a file, which appears complete or not at all. */
async function writeFile(result: QueryResult, file: string, { out }: Terminal): Promise<void> {
  const parquetFile = await result.writeParquet();
  await replaceFile(file, undefined, async (begin) =>
    pipeline(createReadStream(parquetFile), await begin()),
  ).catch(asFlagFault('--parquet', file));
  out(`${file}: ${counted(result.rows, 'row')}`);
}

/** A row as CSV (RFC 4180). Null is an empty cell, an empty string has quotes, and nested values are JSON. */
function csvRow(values: readonly ExactValue[], isSafe: true | undefined): string {
  const cells = values.map((value) => {
    if (value === '') return '""';
    const text = cellOf(value);
    return csvCell(isSafe && typeof value === 'string' ? safeCell(text) : text, ',');
  });
  return `${cells.join(',')}\r\n`;
}

/** The number of spaces between two columns. */
const GAP = 2;

/** Minimum width of a column, in characters. */
const MIN_WIDTH = 8;

/** Columns of text that fit into the width of a terminal. */
type TextTable = {
  /** How many of the columns are shown. */
  readonly columns: number;
  /** Returns the lines of rows. The lines of the first call begin with the column names. */
  readonly lines: (rows: readonly (readonly ExactValue[])[]) => readonly string[];
};

/**
 * Lays out a table; its first rows determine the widths of the columns. With a `width`, cells are shortened so that
 * lines have at most this many characters, and the last columns are left out if they do not fit.
 */
export function textTable(
  names: readonly string[],
  first: readonly (readonly ExactValue[])[],
  width: number | undefined,
): TextTable {
  const header = names.map((name) => shown(name));
  const widest = header.map((name, at) =>
    first.reduce((max, row) => Math.max(max, textOf(row[at] ?? null).length), name.length),
  );
  const widths = width === undefined ? widest : fitted(widest, width);
  let isFirst = true;
  return {
    columns: widths.length,
    lines(rows) {
      const cells = rows.map((row) => widths.map((max, at) => cut(textOf(row[at] ?? null), max, width)));
      const padded = widths.map((max, at) => cut(header[at] ?? '', max, width).padEnd(max));
      const lines = inColumns(padded, cells);
      const from = isFirst ? 0 : 1;
      isFirst = false;
      return lines.slice(from);
    },
  };
}

const textOf = (value: ExactValue) => shown(cellOf(value));

const cut = (text: string, maxLength: number, width: number | undefined) =>
  width === undefined || text.length <= maxLength ? text : shortened(text, Math.max(1, maxLength - 1));

/** Widths that fit into `width`. The widest columns are shortened first; then the last columns are left out. */
function fitted(widest: readonly number[], width: number): readonly number[] {
  const room = (columns: number) => Math.max(MIN_WIDTH, width - GAP * (columns - 1));
  const minTotal = (columns: number) =>
    widest.slice(0, columns).reduce((sum, each) => sum + Math.min(each, MIN_WIDTH), 0);
  let columns = widest.length;
  while (columns > 1 && minTotal(columns) > room(columns)) columns -= 1;
  const kept = widest.slice(0, columns);
  let maxWidth = Math.max(MIN_WIDTH, ...kept);
  const total = () => kept.reduce((sum, each) => sum + Math.min(each, maxWidth), 0);
  while (maxWidth > MIN_WIDTH && total() > room(columns)) maxWidth -= 1;
  return kept.map((each) => Math.min(each, maxWidth));
}

/** A value for a cell: a string is unchanged, null is empty, and a nested value is JSON. */
function cellOf(value: ExactValue): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
