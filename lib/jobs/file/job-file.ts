import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { analyzeFormula } from '../../formula/index.ts';
import type { Allow } from '../allow.ts';
import { createLineCheck, type JobLine } from '../message/job-lines.ts';
import { parseMessage } from '../message/message.ts';
import { readMessageJson } from '../message/message-json.ts';
import { withId } from '../message/with-id.ts';
import { openTableFile } from '../texts/rows/csv.ts';
import { openText } from '../texts/rows/source-text.ts';
import { definitionOf } from '../types/job-types.ts';
import { rowJobs, stableIds, textOf } from './row-jobs.ts';
import { readTemplate } from './template.ts';

/** A file with a job on each line; or a CSV with one for each row, by a template. */
export type JobFileOptions = {
  readonly file: string;
  /** The NDJSON itself, where it is in no file: `file` is only its name. */
  readonly text?: string | undefined;
  /** A job with placeholders for columns. Absent: the file is NDJSON. */
  readonly template?: unknown;
  readonly separator?: string | undefined;
  readonly encoding?: string | undefined;
  /**
   * What a job on a line without an id gets: one by its content (see `stableIds`); one by which this job alone is known; or
   * a fault, if the queue would have to give it one. Default: by its content, as for the rows of a CSV.
   */
  readonly ids?: 'by-content' | 'new' | 'required';
  /** The platform says what it makes of formulas that do not parse here. Default: each is a fault. */
  readonly leavesFormulas?: boolean;
  readonly allow: Allow;
  readonly signal?: AbortSignal | undefined;
};

/** A row of a file, and its job. */
export type FileRow = {
  readonly line: number;
  readonly id: string;
  readonly contentHash: string;
  /** The message, with its id. */
  readonly body: string;
  /** The cells of a CSV; absent for NDJSON. */
  readonly fields?: readonly string[] | undefined;
};

/** A file whose rows are all jobs. */
export type JobFile = {
  readonly count: number;
  /** The first three messages. */
  readonly first: readonly string[];
  /** The columns of a CSV; absent for NDJSON. */
  readonly columns?: readonly string[] | undefined;
  /** All rows, from the beginning. Throws an error if the file is not the one that was checked. */
  readonly rows: () => AsyncGenerator<FileRow>;
};

/** What is wrong with a template, or with the rows. */
export type JobFaults = { readonly in: 'template' | 'rows'; readonly faults: readonly string[] };

const SHOWN = 3;

/** How much of a file is read at once: what V8 has seen in two collections stays until it collects all. */
const READ_BYTES = 4_096;

/**
 * Checks all jobs of a file, which is read again for its rows: memory holds 50 bytes of each. Throws `RowsError`, and what
 * the file system throws.
 */
export async function checkJobFile(options: JobFileOptions): Promise<JobFile | JobFaults> {
  const { allow, signal, leavesFormulas = false } = options;
  const stamp = await stampOf(options);
  const check = createLineCheck(allow);
  const first: string[] = [];
  let [count, columns]: [number, readonly string[] | undefined] = [0, undefined];
  for await (const line of jobLines(options)) {
    if ('columns' in line) {
      ({ columns } = line);
      continue;
    }
    if ('templateFaults' in line) return { in: 'template', faults: line.templateFaults };
    signal?.throwIfAborted();
    const read = check.check(line);
    if (read === undefined) continue;
    if (!leavesFormulas)
      check.add(line.line, definitionOf(read.job).faultsHere?.(read.job, { analyzeFormula }) ?? []);
    if (options.ids === 'required' && !read.isNamed)
      check.add(line.line, [`id: expected one, by which a ${read.job.type} runs only once, got nothing`]);
    count += 1;
    if (first.length < SHOWN) first.push(read.text);
  }
  if (!check.isFaultless()) return { in: 'rows', faults: check.faults() };
  if (count === 0) return { in: 'rows', faults: ['expected at least one job, got none'] };
  return { count, first, columns, rows: () => checkedRows(stamp, options) };
}

async function* checkedRows(stamp: string, options: JobFileOptions): AsyncGenerator<FileRow> {
  const { file, allow } = options;
  if ((await stampOf(options)) !== stamp) throw new Error(`${file}: has changed since its rows were checked`);
  for await (const line of jobLines(options)) if ('text' in line) yield rowOf(line, allow);
}

async function stampOf({ file, text }: JobFileOptions): Promise<string> {
  if (text !== undefined) return '';
  const { size, mtimeMs, ino } = await stat(file);
  return `${size} ${mtimeMs} ${ino}`;
}

type Line = JobLine & { readonly fields?: readonly string[] };

function rowOf({ line, text, fields }: Extract<Line, { readonly text: string }>, allow: Allow): FileRow {
  const read = parseMessage(text, { messageId: randomUUID(), allow });
  if (read.kind === 'refused')
    throw new Error(`line ${line}: was checked, and is refused: ${read.faults.join('; ')}`);
  const { job, contentHash, isNamed } = read;
  // The queue would give another id to each copy: a send that is repeated would run a function twice.
  return { line, id: job.id, contentHash, body: isNamed ? text : withId(text, job.id), fields };
}

type Read = Line | { readonly columns: readonly string[] } | { readonly templateFaults: readonly string[] };

async function* jobLines(options: JobFileOptions): AsyncGenerator<Read> {
  const { file, template: json, separator, encoding } = options;
  if (json === undefined) return yield* linesOfJson(options);
  const given = { name: file, requested: [], separator, encoding };
  await using table = await openTableFile(createReadStream(file, { highWaterMark: READ_BYTES }), given);
  const template = readTemplate(json, table.names);
  if ('faults' in template) return yield { templateFaults: template.faults };
  yield { columns: table.names };
  yield* rowJobs(table.rows(), { file, names: table.names, template });
}

async function* linesOfJson({ file, text: given, encoding, ids }: JobFileOptions): AsyncGenerator<Line> {
  const idOf = ids === undefined || ids === 'by-content' ? stableIds(file) : undefined;
  const bytes =
    given === undefined
      ? createReadStream(file, { highWaterMark: READ_BYTES })
      : Readable.from([Buffer.from(given)]);
  await using source = await openText(bytes, encoding);
  for await (const lines of source.lines())
    for (const { number: line, text, fault } of lines) {
      if (fault === undefined && text.trim() === '') continue;
      const json = fault === undefined ? readMessageJson(text.trim()) : { kind: 'fault' as const, fault };
      if (json.kind === 'fault') yield { line, faults: [json.fault] };
      else yield { line, ...textOf(json.value, idOf) };
    }
}
