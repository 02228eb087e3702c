import { hash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { listed, nearestName, shortened } from '../../base/index.ts';
import { canonicalJson, createNumbersByText, parseJson, printJson } from '../../base/json/index.ts';
import { judgeFormula } from '../../formula/index.ts';
import { type OddRows, openTableFile, openText, repeatedIn, type TextForm } from '../../text/index.ts';
import type { Allow } from '../allow.ts';
import { isObject, readMessageJson, withId } from '../message/check-message.ts';
import { parseMessage } from '../message/message.ts';
import { createIdIndex } from '../texts/rows/read-rows.ts';
import { definitionOf, type Job } from '../types/job-types.ts';

type JobFileOptions = {
  readonly file: string;
  /** The NDJSON itself; `file` is then only its name in messages. Default: it is read from `file`. */
  readonly text?: string | undefined;
  readonly template?: unknown;
  /**
   * A name for this set of jobs, with which their ids begin. Default: a job keeps the id in its line, or gets an id that
   * is computed from its content.
   */
  readonly name?: string | undefined;
  readonly separator?: string | undefined;
  readonly wholeRows?: boolean | undefined;
  readonly encoding?: string | undefined;
  /**
   * How a line without an id gets one. `by-content`: computed as for rows of a CSV (`stableIds`). `new`: a random id.
   * `required`: a line must have an id, unless its job type takes the id from its content, because the queue would
   * otherwise give each copy a new id, and the job would run again. Default: `by-content`.
   */
  readonly ids?: 'by-content' | 'new' | 'required';
  readonly allow: Allow;
  readonly signal?: AbortSignal | undefined;
};

/** A job of a file, with its message as JSON in `body`. `line` counts from 1. */
export type FileRow = {
  readonly line: number;
  readonly id: string;
  readonly contentHash: string;
  readonly type: Job['type'];
  /** The maximum number of calls that the job makes; 0 if that is unknown. */
  readonly calls: number;
  readonly body: string;
  readonly fields?: readonly string[] | undefined;
};

/** The format of a CSV from which jobs are built, and its columns. */
type CsvOfJobs = Partial<Pick<TextForm, 'encoding' | 'isMarked'>> & {
  readonly csv?: Pick<
    Awaited<ReturnType<typeof openTableFile>>,
    'names' | 'separator' | 'lineEnd' | 'isDeclared'
  >;
};

/** A file whose jobs have been checked. */
export type JobFile = CsvOfJobs & {
  readonly count: number;
  /** The maximum number of calls that the jobs make, by type. */
  readonly calls: Readonly<Record<string, number>>;
  /** The first messages, for a dry run. */
  readonly first: readonly string[];
  readonly odd: OddRows;
  /** Warnings about rows. If there are more than 50, the last line says how many more there are. */
  readonly warnings: readonly string[];
  /** The calculations whose formulas the jobs replace. */
  readonly replaced: ReadonlySet<string>;
  /** Reads all rows from the beginning. Throws if the file is not the one that was checked. */
  readonly rows: () => AsyncGenerator<FileRow>;
};

/** How many built messages a dry run shows. */
const SHOWN_MESSAGES = 3;

/** At most this many faults are listed: a file that does not contain jobs has a fault in each line. */
const MAX_FAULTS = 50;

/**
 * How many bytes of a file are read together. The number is small, because a string that survives two of V8's garbage
 * collections stays in memory until a full collection.
 */
const READ_BYTES = 4_096;

/** Checks all jobs of a file. Takes 50 bytes of memory for each job. Throws `TextError`, and errors of the file system. */
export async function checkJobFile(options: JobFileOptions): Promise<
  | JobFile
  /** If there are more than 50 faults in rows, the last line says how many more there are. */
  | { readonly in: 'template' | 'rows'; readonly faults: readonly string[] }
> {
  const stamp = await stampOf(options);
  const judge = createJudge(options);
  const first: string[] = [];
  const faults = createLines();
  const warnings = createLines();
  const replaced = new Set<string>();
  const calls: Record<string, number> = {};
  let count = 0;
  let found: CsvFacts = { odd: { blank: 0, short: 0 } };
  for await (const read of readJobs(options)) {
    if ('odd' in read) {
      found = read;
      continue;
    }
    if ('templateFaults' in read) return { in: 'template', faults: read.templateFaults };
    options.signal?.throwIfAborted();
    const of = 'job' in read ? definitionOf(read.job).replacesFormulaOf?.(read.job) : undefined;
    if (of !== undefined) replaced.add(of);
    const judged = 'faults' in read ? { faults: read.faults, warnings: [] } : judge(read);
    faults.add(read.line, judged.faults);
    warnings.add(read.line, judged.warnings);
    if ('job' in read) calls[read.job.type] = (calls[read.job.type] ?? 0) + callsOf(read.job);
    count += 1;
    if ('text' in read && first.length < SHOWN_MESSAGES) first.push(read.text);
  }
  if (count === 0) return { in: 'rows', faults: ['there are no jobs in it'] };
  const wrong = faults.all();
  if (wrong.length > 0) return { in: 'rows', faults: wrong };
  const rows = () => checkedRows(stamp, options);
  return { ...found, count, calls, first, warnings: warnings.all(), replaced, rows };
}

/** Collects messages about lines of the file: stores the first 50, and counts the rest. */
function createLines() {
  const first: string[] = [];
  let count = 0;
  return {
    add(line: number, texts: readonly string[]) {
      count += texts.length;
      first.push(...texts.slice(0, MAX_FAULTS - first.length).map((text) => `line ${line}: ${text}`));
    },
    all: () => (count > first.length ? [...first, `and ${count - first.length} more`] : first),
  };
}

function createJudge({ ids }: JobFileOptions) {
  const seen = createIdIndex();
  return ({ line, job, hasExplicitId, isUnique }: JobRow) => {
    const { id, type } = job;
    const before = hasExplicitId && !isUnique ? seen.add(id, line) : undefined;
    const { faults = [], warnings = [] } = definitionOf(job).judgeHere?.(job, { judgeFormula }) ?? {};
    const wrong = [
      ...(before === undefined
        ? []
        : [`id: expected an id that no other line has, got ${id}, which line ${before} has`]),
      ...faults,
      ...(ids === 'required' && !hasExplicitId
        ? [
            `id: expected an id, got nothing: without an id, this ${type} job would run again if you send the file again`,
          ]
        : []),
    ];
    return { faults: wrong, warnings };
  };
}

async function* checkedRows(stamp: string, options: JobFileOptions): AsyncGenerator<FileRow> {
  if ((await stampOf(options)) !== stamp)
    throw new Error(`${options.file} has changed since its rows were checked`);
  for await (const row of readJobs(options)) {
    if ('faults' in row)
      throw new Error(
        `line ${row.line} is not valid any more, so the file has changed since it was checked: ${row.faults.join('; ')}`,
      );
    if (!('text' in row)) continue;
    const { line, job, contentHash, hasExplicitId, text, fields } = row;
    // Without an id in the body, the queue would assign a new id to each copy, and a repeated send would run twice.
    yield {
      line,
      id: job.id,
      contentHash,
      type: job.type,
      calls: callsOf(job),
      body: hasExplicitId ? text : withId(text, job.id),
      fields,
    };
  }
}

async function stampOf({ file, text }: JobFileOptions): Promise<string> {
  if (text !== undefined) return '';
  const { size, mtimeMs, ino } = await stat(file);
  return `${size} ${mtimeMs} ${ino}`;
}

/** A row with its message as compact JSON, and its job. `isUnique`: no other row can have the same id. */
type JobRow = Omit<FileRow, 'id' | 'body' | 'type' | 'calls'> & {
  readonly text: string;
  readonly job: Job;
  readonly hasExplicitId: boolean;
  readonly isUnique: boolean;
};

type Faulty = { readonly line: number; readonly faults: readonly string[] };
type CsvFacts = CsvOfJobs & { readonly odd: OddRows };

async function* readJobs(
  options: JobFileOptions,
): AsyncGenerator<JobRow | Faulty | CsvFacts | { readonly templateFaults: readonly string[] }> {
  const { file, template: json, name, ids = 'by-content', allow } = options;
  const isByContent = json !== undefined || name !== undefined || ids === 'by-content';
  const idOf = isByContent ? stableIds(name) : undefined;
  const read = (line: number, value: unknown, fields?: readonly string[]): JobRow | Faulty => {
    const isUnique = idOf !== undefined && isObject(value) && !('id' in value);
    const id = isUnique ? idOf(value) : isObject(value) ? value['id'] : undefined;
    const isInSet = !isUnique && name !== undefined && typeof id === 'string';
    const text = printJson(
      isUnique || isInSet ? Object.assign({}, value, { id: isInSet ? `${name}.${id}` : id }) : value,
    );
    const parsed = parseMessage(text, { messageId: randomUUID(), allow });
    return parsed.kind === 'refused'
      ? { line, faults: parsed.faults }
      : { ...parsed, line, text, isUnique, ...(fields === undefined ? {} : { fields }) };
  };
  if (json === undefined) {
    for await (const { number: line, text, fault } of linesOfJson(options)) {
      const json = fault === undefined ? readMessageJson(text.trim()) : { kind: 'fault' as const, fault };
      yield json.kind === 'fault' ? { line, faults: [json.fault] } : read(line, json.value);
    }
    return;
  }
  const { separator, encoding, wholeRows } = options;
  const tableOptions = { name: file, requested: [], separator, encoding, wholeRows };
  await using table = await openTableFile(
    createReadStream(file, { highWaterMark: READ_BYTES }),
    tableOptions,
  );
  const template = readTemplate(json, table.names);
  if ('faults' in template) return yield { templateFaults: template.faults };
  const indexes = new Map(table.names.map((name, index) => [name, index]));
  for await (const row of table.rows()) {
    const { line } = row;
    if ('fault' in row) {
      yield { line, faults: [row.fault] };
      continue;
    }
    const filled = template.fill((column) => row.fields[indexes.get(column) ?? -1] ?? '');
    if ('faults' in filled) yield { line, ...filled };
    // A template need not have the version of the message format.
    else
      yield read(line, isObject(filled.value) ? { version: 1, ...filled.value } : filled.value, row.fields);
  }
  yield { encoding: table.encoding, isMarked: table.isMarked, csv: table, odd: table.odd() };
}

const callsOf = (job: Job): number => definitionOf(job).maxCalls(job) ?? 0;

async function* linesOfJson({ file, text: ndjson, encoding }: JobFileOptions) {
  const bytes =
    ndjson === undefined
      ? createReadStream(file, { highWaterMark: READ_BYTES })
      : Readable.from([Buffer.from(ndjson)]);
  await using source = await openText(bytes, {
    encoding: ndjson === undefined ? encoding : 'utf-8',
    name: file,
  });
  for await (const lines of source.lines())
    for (const line of lines) if (line.fault !== undefined || line.text.trim() !== '') yield line;
}

/**
 * Creates ids that depend on the content of a message, on the name of its set, and on how many equal messages come
 * before it. So the same rows get the same ids again, even if other rows are added or removed, or the rows are sorted.
 */
function stableIds(set: string | undefined): (message: object) => string {
  const seen = createNumbersByText();
  return (message) => {
    const content = hash('sha256', canonicalJson([set ?? null, message])).slice(0, 32);
    const before = seen.get(content) ?? 0;
    seen.set(content, before + 1);
    return `${set ?? 'row'}.${content}${before === 0 ? '' : `.${before + 1}`}`;
  };
}

const absent = Symbol('absent');

/**
 * Parses a template. A string that is exactly one placeholder becomes the value of the cell; in any other string the
 * cells are inserted.
 */
export function readTemplate(
  json: unknown,
  columns: readonly string[],
):
  | {
      readonly fill: (
        cellOf: (column: string) => string,
      ) => { readonly value: unknown } | { readonly faults: readonly string[] };
    }
  | { readonly faults: readonly string[] } {
  const known = new Set(columns);
  const twice = repeatedIn(columns);
  const faults: string[] = [];
  const placeholders = new Map<string, Placeholder>();
  mapStrings(json, (text) => {
    for (const [written, inner = ''] of text.matchAll(PLACEHOLDERS)) {
      const read = placeholderOf(inner, known);
      if ('fault' in read) faults.push(read.fault);
      else if (twice.has(read.column))
        faults.push(`${written}: the CSV has more than one column ${JSON.stringify(read.column)}`);
      else if (read.type !== 'text' && text !== written)
        faults.push(`${written}: must be the whole string, without other characters around it`);
      else placeholders.set(written, read);
    }
    return text;
  });
  if (faults.length === 0 && placeholders.size === 0)
    faults.push('it has no placeholder for a column, such as {{id}}');
  if (faults.length > 0) return { faults: [...new Set(faults)] };
  return {
    fill(cellOf) {
      const wrong = new Set<string>();
      const value = mapStrings(json, (text) => {
        const whole = placeholders.get(text);
        if (whole === undefined)
          return text.replaceAll(PLACEHOLDERS, (each) => cellOf(placeholders.get(each)?.column ?? ''));
        const cell = cellOf(whole.column);
        if (whole.isOptional && cell.trim() === '') return absent;
        const found = cellValue(cell, whole);
        if ('value' in found) return found.value;
        wrong.add(found.fault);
        return absent;
      });
      return wrong.size > 0 ? { faults: [...wrong] } : { value };
    },
  };
}

/** Copies JSON with each string replaced, at any depth. A member or element that becomes `absent` is left out. */
function mapStrings(value: unknown, convert: (text: string) => unknown): unknown {
  if (typeof value === 'string') return convert(value);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .map(([name, each]) => [name, mapStrings(each, convert)] as const)
    .filter(([, each]) => each !== absent);
  return Array.isArray(value) ? members.map(([, each]) => each) : Object.fromEntries(members);
}

/** The types to which a cell can be converted. `text`: unchanged. */
const TYPES = ['text', 'number', 'boolean', 'json'] as const;

/** A placeholder for a cell in a template: `{{price}}`, `{{price:number}}`, `{{price:number?}}`. */
type Placeholder = {
  readonly column: string;
  readonly type: (typeof TYPES)[number];
  readonly isOptional: boolean;
};

const PLACEHOLDERS = /\{\{([^{}]+)\}\}/g;

/**
 * Parses the characters between the braces. They are first taken as the name of a column, even with a colon or a question
 * mark in them.
 */
function placeholderOf(
  inner: string,
  columns: ReadonlySet<string>,
): Placeholder | { readonly fault: string } {
  const written = `{{${inner}}}`;
  const name = inner.trim();
  if (columns.has(name)) return { column: name, type: 'text', isOptional: false };
  const isOptional = name.endsWith('?');
  const required = isOptional ? name.slice(0, -1).trim() : name;
  if (columns.has(required)) return { column: required, type: 'text', isOptional };
  const [, before = required, after = 'text'] = /^(.*):\s*([^:]*)$/s.exec(required) ?? [];
  const column = before.trim();
  if (!columns.has(column)) return { fault: missingColumn(written, column, columns) };
  const type = TYPES.find((each) => each === after);
  if (type !== undefined) return { column, type, isOptional };
  const expected = `one of ${TYPES.join(', ')} after the colon`;
  return { fault: `${written}: expected ${expected}, got ${JSON.stringify(after)}` };
}

function missingColumn(written: string, column: string, columns: ReadonlySet<string>): string {
  const names = [...columns].filter((name) => name !== '');
  const nearest = nearestName(column, names);
  const hint = nearest === undefined ? `its columns are ${listed(names)}` : `did you mean ${nearest}?`;
  return `${written}: the CSV has no column of this name; ${hint}`;
}

function cellValue(
  cell: string,
  { column, type }: Placeholder,
): { readonly value: unknown } | { readonly fault: string } {
  const text = cell.trim();
  const wrong = (expected: string) => ({
    fault: `column ${column}: expected ${expected}, got ${text === '' ? 'an empty cell' : JSON.stringify(shortened(text, 60))}`,
  });
  switch (type) {
    case 'text':
      return { value: cell };
    case 'number':
      return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)
        ? { value: parseJson(text) }
        : wrong('a number');
    case 'boolean':
      return /^(true|false)$/i.test(text) ? { value: text.toLowerCase() === 'true' } : wrong('true or false');
    case 'json':
      return jsonOf(text) ?? wrong('JSON');
    default:
      return type satisfies never;
  }
}

function jsonOf(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}
