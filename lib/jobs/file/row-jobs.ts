import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { canonicalJson, createNumbersByText, printJson } from '../../base/index.ts';
import { isObject } from '../message/fields.ts';
import type { JobLine } from '../message/job-lines.ts';
import type { CsvRow } from '../texts/rows/csv.ts';
import type { Template } from './template.ts';

/**
 * Makes a job of each row. One without an id gets one that depends on the file's name, on what the job says, and on how
 * many equal rows come before it, but neither on the file's folder nor on other rows: submitting the file again, with
 * rows added, removed or sorted, gives each row that is as it was the id that it had.
 */
export async function* rowJobs(
  rows: AsyncIterable<CsvRow>,
  {
    file,
    names,
    template,
  }: { readonly file: string; readonly names: readonly string[]; readonly template: Template },
): AsyncGenerator<JobLine & { readonly fields?: readonly string[] }> {
  const indexes = new Map(names.map((name, index) => [name, index]));
  const idOf = stableIds(file);
  for await (const row of rows) {
    const { line } = row;
    if ('fault' in row) {
      yield { line, faults: [row.fault] };
      continue;
    }
    const filled = template.fill((column) => row.fields[indexes.get(column) ?? -1] ?? '');
    if ('faults' in filled) yield { line, faults: filled.faults };
    else yield { line, ...textOf(versioned(filled.value), idOf), fields: row.fields };
  }
}

/** A version is the same for all of them. */
const versioned = (value: unknown): unknown => (isObject(value) ? { version: 1, ...value } : value);

/** The text of a message, with an id if `idOf` gives one. Anything but an object is refused when it is checked. */
export function textOf(value: unknown, idOf: ((message: object) => string) | undefined) {
  const isUnique = idOf !== undefined && isObject(value) && !('id' in value);
  return { text: printJson(isUnique ? { ...value, id: idOf(value) } : value), isUnique };
}

/** The most characters of a file's name in an id, which has at most 128. */
const MOST_OF_FILE = 80;

/**
 * Gives messages ids that depend on the file's name, on what they say, and on how many equal ones come before, but not on
 * the file's folder.
 */
export function stableIds(file: string): (message: object) => string {
  const name = basename(file);
  const stem = name.replace(/\.(csv|tsv|ndjson|jsonl)(\.gz)?$/i, '').replaceAll(/[^A-Za-z0-9._-]+/g, '-');
  const seen = createNumbersByText();
  return (message) => {
    const content = createHash('sha256')
      .update(canonicalJson([name, message]))
      .digest('hex')
      .slice(0, 32);
    const before = seen.get(content) ?? 0;
    seen.set(content, before + 1);
    return `${stem.slice(0, MOST_OF_FILE)}.${content}${before === 0 ? '' : `.${before + 1}`}`;
  };
}
