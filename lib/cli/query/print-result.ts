import { copyFile, rename, rm } from 'node:fs/promises';
import { csvCell, writeTextFile } from '../../jobs/texts/output/text-file.ts';
import type { ExactValue } from '../../tables/duckdb/exact-value.ts';
import type { QueryResult } from '../../tables/duckdb/open-query.ts';
import { fileError, UsageError } from '../errors/usage-error.ts';
import { counted, shownLines, type Terminal } from '../terminal/terminal.ts';
import { cellOf, type TextTable, textTable } from './as-table.ts';

/** How a result is printed; as a table for people if nothing is set. */
export type ResultFormat = {
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
  if (format.parquet !== undefined) await writeFile(result, format.parquet, terminal);
  else if (typeof format.csv === 'string') await writeCsv(result, format.csv, terminal);
  else if (format.json) await printJson(result, terminal);
  else if (format.csv) await printCsv(result, terminal);
  else await printTable(result, terminal);
}

/** Waits until there is room for more output; false if nobody reads it any more. */
const hasReader = async ({ drained }: Terminal): Promise<boolean> => (await drained?.()) ?? true;

/** One list of objects, a row each. */
async function printJson({ columns, batches, rows }: QueryResult, terminal: Terminal): Promise<void> {
  if (rows === 0) return terminal.out('[]');
  let before = '[';
  for await (const batch of batches()) {
    const objects = batch.map((row) =>
      JSON.stringify(Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null]))),
    );
    for (const object of objects) {
      terminal.out(`${before}${object}`);
      before = ',';
    }
    if (!(await hasReader(terminal))) return;
  }
  terminal.out(']');
}

/** Lines end in CR and LF; the terminal adds the latter. On a screen, nothing may move the cursor. */
async function printCsv({ columns, batches }: QueryResult, terminal: Terminal): Promise<void> {
  const safe = terminal.width === undefined ? (text: string) => text : shownLines;
  terminal.out(`${safe(csvLine(columns.map(({ name }) => name)))}\r`);
  for await (const batch of batches()) {
    terminal.out(`${safe(batch.map(csvLine).join('\r\n'))}\r`);
    if (!(await hasReader(terminal))) return;
  }
}

/** The file appears complete, or not at all. */
async function writeCsv({ columns, batches, rows }: QueryResult, file: string, { out, signal }: Terminal) {
  const lines = async function* () {
    yield `${csvLine(columns.map(({ name }) => name))}\r\n`;
    for await (const batch of batches()) yield batch.map((row) => `${csvLine(row)}\r\n`).join('');
  };
  await writeTextFile(file, lines(), { isGzipped: /\.gz$/i.test(file), signal }).catch((error: unknown) => {
    if (!(error instanceof Error && error.message.startsWith(`${file}: `))) throw error;
    throw new UsageError(`--csv ${error.message}`, { cause: error });
  });
  out(`${file}: ${counted(rows, 'row')}`);
}

async function printTable({ columns, batches }: QueryResult, terminal: Terminal): Promise<void> {
  const names = columns.map(({ name }) => name);
  let table: TextTable | undefined;
  for await (const batch of batches()) {
    table ??= textTable(names, batch, terminal.width);
    for (const line of table.lines(batch)) terminal.out(line);
    if (!(await hasReader(terminal))) return;
  }
  if (table === undefined) {
    table = textTable(names, [], terminal.width);
    for (const line of table.lines([])) terminal.out(line);
  }
  const hidden = hiddenColumns(names.length, table);
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
  const partial = `${file}.${process.pid}.partial`;
  try {
    await copyFile(made, partial);
    await rename(partial, file);
  } catch (cause) {
    await rm(partial, { force: true });
    throw fileError(`--parquet ${file}`, 'a file that can be written', cause);
  }
  out(`${file}: ${counted(result.rows, 'row')}`);
}

/**
 * A row as CSV (RFC 4180), without the end of its line. Nothing between two commas is null; an empty text has quotes.
 * What is nested is JSON.
 */
const csvLine = (values: readonly ExactValue[]): string =>
  values.map((value) => (value === '' ? '""' : csvCell(cellOf(value), ','))).join(',');
