import { objectIn } from '../../message/check-message.ts';
import type { SourceRecord } from '../rows/read-rows.ts';
import { printed } from '../rows/row.ts';
import { csvCell } from './text-file.ts';

export type RowToWrite = { readonly record: SourceRecord; readonly added: readonly string[] };

export type ColumnsToWrite = {
  readonly names: readonly string[];
  /** Those that are added. A name that the rows have already gets a number: `sentiment_2`. */
  readonly added: readonly string[];
};

export type CsvToWrite = ColumnsToWrite & {
  readonly separator: string;
  /** Whether it begins with a byte order mark, as Excel expects. Default: no. */
  readonly isMarked?: boolean;
};

/** The lines of a CSV (RFC 4180), in UTF-8, after its header. A row that cannot be read has empty cells. */
export async function* csvLines(
  rows: AsyncIterable<RowToWrite>,
  { names, added, separator, isMarked = false }: CsvToWrite,
): AsyncGenerator<string> {
  const line = (cells: readonly string[]) =>
    `${cells.map((text) => csvCell(text, separator)).join(separator)}\n`;
  yield `${isMarked ? '\uFEFF' : ''}${line([...names, ...freeNames(added, names)])}`;
  for await (const row of rows) yield line([...cellsOf(row.record, names), ...row.added]);
}

/** The lines of NDJSON: each object as it was sent, with more members; an added value that is empty is left out. */
export async function* ndjsonLines(
  rows: AsyncIterable<RowToWrite>,
  { names, added }: ColumnsToWrite,
): AsyncGenerator<string> {
  const members = freeNames(added, names).map((name) => JSON.stringify(name));
  for await (const row of rows) {
    const more = members.map((member, at) => (row.added[at] ? `${member}:${row.added[at]}` : ''));
    yield `{${[membersIn(row.record, names), ...more].filter((each) => each !== '').join(',')}}\n`;
  }
}

function freeNames(added: readonly string[], names: readonly string[]): readonly string[] {
  const taken = new Set(names);
  return added.map((name) => {
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name}_${number}`;
    taken.add(free);
    return free;
  });
}

function cellsOf(record: SourceRecord, names: readonly string[]): readonly string[] {
  if (typeof record !== 'string') return names.map((_, index) => record?.[index] ?? '');
  const fields = membersOf(record);
  return names.map((name) => (fields.has(name) ? printed(fields.get(name)) : ''));
}

/** The members of a JSON object, on one line, without its braces. */
function membersIn(record: SourceRecord, names: readonly string[]): string {
  if (record === undefined) return '';
  if (typeof record !== 'string')
    return names.map((name, at) => `${JSON.stringify(name)}:${JSON.stringify(record[at] ?? '')}`).join(',');
  // JSON has line ends between its values only.
  const onOneLine = record.trim().replaceAll(/[\r\n]+/g, ' ');
  return membersOf(record).size === 0 ? '' : onOneLine.slice(1, -1).trimEnd();
}

export const membersOf = (text: string): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(objectIn(text) ?? {}));
