import { printJson } from '../../base/index.ts';
import type { Store } from '../../store/index.ts';
import type { FileRow, JobFile } from '../file/job-file.ts';
import { hasEnded, type Outcome } from '../ledger/job-row.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { readMessageJson } from '../message/message-json.ts';
import { responseOf } from '../result.ts';
import { freeName } from '../texts/output/score-columns.ts';
import { csvCell, type OutputFormat, writeTextFile } from '../texts/output/text-file.ts';

export type RunOutputOptions = {
  readonly file: string;
  readonly format: OutputFormat;
  readonly ledger: Pick<Ledger, 'read'>;
  readonly store: Store;
};

/** How many rows are looked up at once. */
const AT_ONCE = 16;

/** What is added to a row. `left`: its job has not ended. */
type Added = {
  readonly status: Outcome['status'] | 'left' | 'refused';
  readonly response: string;
  readonly error: string;
};

/**
 * Writes a row for each job of a file, in its order: the row's own columns, the job's id, status and response (as JSON),
 * and why it has none. The file appears complete or not at all; memory holds a few rows. Throws what the ledger, the store and
 * the file system throw.
 */
export const writeRunOutput = (jobs: JobFile, options: RunOutputOptions): Promise<void> =>
  writeTextFile(options.file, linesOf(jobs, options), { isGzipped: options.format.isGzipped });

async function* linesOf({ rows, columns }: JobFile, options: RunOutputOptions): AsyncGenerator<string> {
  const { format, isTabbed } = options.format;
  // A row of NDJSON has the id of its job among its members.
  const own = columns ?? ['id', 'type'];
  const added = [...(columns === undefined ? [] : ['job_id']), 'status', 'response', 'error'];
  const names = added.map((name) => freeName(name, new Set(own)));
  const separator = isTabbed ? '\t' : ',';
  const csv = (cells: readonly string[]) => cells.map((cell) => csvCell(cell, separator)).join(separator);
  if (format === 'csv') yield `${csv([...own, ...names])}\n`;
  for await (const [row, { status, response, error }] of withOutcomes(rows(), options)) {
    const texts = [...(columns === undefined ? [] : [row.id]), status, response, error];
    if (format === 'csv') {
      yield `${csv([...(row.fields ?? cellsOf(row)), ...texts])}\n`;
      continue;
    }
    const cells = Object.fromEntries(own.map((name, at) => [name, row.fields?.[at] ?? '']));
    const known = row.fields === undefined ? messageOf(row) : cells;
    yield `${withAdded(known, names, texts)}\n`;
  }
}

function messageOf({ body }: FileRow): Readonly<Record<string, unknown>> {
  const read = readMessageJson(body);
  return read.kind === 'json' ? (read.value as Readonly<Record<string, unknown>>) : {};
}

function cellsOf(row: FileRow): readonly string[] {
  const { id, type } = messageOf(row);
  return [String(id), String(type)];
}

/** The response, last but one, is JSON already: its numbers may have more digits than a JavaScript number. */
function withAdded(
  row: Readonly<Record<string, unknown>>,
  names: readonly string[],
  texts: readonly string[],
): string {
  const added = names.flatMap((name, at) => {
    const text = texts[at] ?? '';
    if (text === '') return [];
    return [`${JSON.stringify(name)}:${at === names.length - 2 ? text : JSON.stringify(text)}`];
  });
  return `${printJson(row).slice(0, -1)},${added.join(',')}}`;
}

async function* withOutcomes(
  rows: AsyncIterable<FileRow>,
  options: RunOutputOptions,
): AsyncGenerator<readonly [FileRow, Added]> {
  const ahead: Promise<readonly [FileRow, Added]>[] = [];
  for await (const row of rows) {
    const reading = addedTo(row, options).then((added) => [row, added] as const);
    // It is thrown where it is awaited.
    reading.catch(() => undefined);
    ahead.push(reading);
    if (ahead.length === AT_ONCE) yield* await Promise.all(ahead.splice(0, 1));
  }
  yield* await Promise.all(ahead);
}

async function addedTo({ id, contentHash }: FileRow, { ledger, store }: RunOutputOptions): Promise<Added> {
  const row = await ledger.read(id);
  if (row?.contentHash !== undefined && row.contentHash !== contentHash)
    return { status: 'refused', response: '', error: 'another job has this id, with other content' };
  if (row === undefined || !hasEnded(row)) return { status: 'left', response: '', error: '' };
  const { status, error, note } = row.outcome;
  const response = (await responseOf(store, row.outcome)) ?? '';
  return { status, response: response.replaceAll(/[\r\n]+/g, ' '), error: error?.message ?? note ?? '' };
}
