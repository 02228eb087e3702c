import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { isFullDisk } from '../../store/index.ts';
import type { ExactValue } from '../../tables/duckdb/exact-value.ts';
import type { QueryResult } from '../../tables/duckdb/open-query.ts';
import {
  type CsvWishes,
  csvCell,
  csvOutput,
  replaceFile,
  safeCell,
  writeTextFile,
} from '../../text/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { counted, shownLines, type Terminal } from '../terminal/terminal.ts';
import { cellOf, type TextTable, textTable } from './as-table.ts';

/** How a result is printed; as a table for people if nothing is set. */
export type ResultFormat = CsvWishes & {
  readonly json?: true | undefined;
  /** True: on standard output; or a file. */
  readonly csv?: true | string | undefined;
  readonly parquet?: string | undefined;
};

/** Prints a result, or writes it to a file. Ends early if nobody reads standard output any more. */
export async function printResult(
  result: QueryResult,
  format: ResultFormat,
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
    // Waits until there is room for more.
    if ((await terminal.drained?.()) === false) return;
  }
}

/** One list of objects, a row each. */
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

/** Lines end in CR and LF; the terminal adds the latter. On a screen, nothing may move the cursor. */
async function* csvOf(result: QueryResult, wishes: CsvWishes, { width }: Terminal): AsyncGenerator<string> {
  const safe = width === undefined ? (text: string) => text : shownLines;
  let mark = wishes.csvFor === undefined ? '' : '\uFEFF';
  for await (const lines of csvBlocks(result, wishes)) {
    yield `${mark}${safe(lines.join('\r\n'))}\r`;
    mark = '';
  }
}

/** The file appears complete, or not at all. */
async function writeCsv(
  result: QueryResult,
  file: string,
  wishes: CsvWishes,
  { out, signal }: Terminal,
): Promise<void> {
  const lines = async function* () {
    for await (const each of csvBlocks(result, wishes)) yield each.map((line) => `${line}\r\n`).join('');
  };
  const { isMarked } = csvOutput({ isTabbed: false }, {}, wishes);
  const written = writeTextFile(file, lines, { isGzipped: /\.gz$/i.test(file), isMarked, signal });
  await written.catch(asFlagFault('--csv', file));
  out(`${file}: ${counted(result.rows, 'row')}`);
}

/** The header, and then the rows in batches, as lines without their ends. */
async function* csvBlocks({ columns, batches }: QueryResult, { csvSafe }: CsvWishes) {
  yield [
    csvRow(
      columns.map(({ name }) => name),
      csvSafe,
    ),
  ];
  for await (const batch of batches()) yield batch.map((row) => csvRow(row, csvSafe));
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

/** Says that columns are not shown; undefined if all are. */
export const hiddenColumns = (all: number, { columns }: TextTable): string | undefined =>
  columns === all
    ? undefined
    : `${all - columns} of ${all} columns are not shown: name those that you want, or use --json`;

/** The file appears complete, or not at all. */
async function writeFile(result: QueryResult, file: string, { out }: Terminal): Promise<void> {
  const made = await result.writeParquet();
  await replaceFile(file, undefined, async (begin) => pipeline(createReadStream(made), await begin())).catch(
    asFlagFault('--parquet', file),
  );
  out(`${file}: ${counted(result.rows, 'row')}`);
}

/**
 * A row as CSV (RFC 4180), without the end of its line. Nothing between two commas is null; an empty text has quotes.
 * What is nested is JSON.
 */
function csvRow(values: readonly ExactValue[], isSafe: true | undefined): string {
  const cells = values.map((value) => {
    if (value === '') return '""';
    const text = cellOf(value);
    return csvCell(isSafe && typeof value === 'string' ? safeCell(text) : text, ',');
  });
  return cells.join(',');
}
