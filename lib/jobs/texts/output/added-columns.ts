import { type CellOptions, type CsvForm, csvHead, csvLine } from '../../../text/index.ts';
import { parseObject } from '../../message/check-message.ts';
import { cellText, type InputRecord } from '../rows/read-rows.ts';

type RowToWrite = { readonly record: InputRecord; readonly added: readonly string[] };

type ColumnsToWrite = {
  readonly names: readonly string[];
  /** The names of the added columns. If a name is taken, it gets a number: `sentiment_2`. */
  readonly added: readonly string[];
};

/** The lines of a CSV after its header. A row that cannot be read has empty cells. */
export async function* csvLines(
  rows: AsyncIterable<RowToWrite>,
  { names, added, ...form }: ColumnsToWrite & CsvForm & CellOptions,
): AsyncGenerator<string> {
  yield csvHead([...names, ...freeNames(added, names)], form);
  for await (const row of rows) yield csvLine([...cellsOf(row.record, names), ...row.added], form);
}

/** The lines of NDJSON: each object as it was sent, with members added. An empty object is left out. */
export async function* ndjsonLines(
  rows: AsyncIterable<RowToWrite>,
  { names, added }: ColumnsToWrite,
): AsyncGenerator<string> {
  const own = freeNames(
    names.map((name, at) => name || `column_${at + 1}`),
    [],
  );
  const members = freeNames(added, own).map((name) => JSON.stringify(name));
  for await (const row of rows) {
    const more = members.map((member, at) => (row.added[at] ? `${member}:${row.added[at]}` : ''));
    yield `{${[joinedMembers(row.record, own), ...more].filter((each) => each !== '').join(',')}}\n`;
  }
}

/** The added names, each with a number if the name is already taken. */
function freeNames(added: readonly string[], names: readonly string[]): readonly string[] {
  const taken = new Set(names);
  return added.map((name) => {
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name}_${number}`;
    taken.add(free);
    return free;
  });
}

function cellsOf(record: InputRecord, names: readonly string[]): readonly string[] {
  if (typeof record !== 'string') return names.map((_, index) => record?.[index] ?? '');
  const fields = parseMembers(record);
  return names.map((name) => (fields.has(name) ? cellText(fields.get(name)) : ''));
}

/** The members of a JSON object, on one line, without its braces. */
function joinedMembers(record: InputRecord, names: readonly string[]): string {
  if (record === undefined) return '';
  if (typeof record !== 'string')
    return names.map((name, at) => `${JSON.stringify(name)}:${JSON.stringify(record[at] ?? '')}`).join(',');
  // JSON has line ends only between its values.
  const onOneLine = record.trim().replaceAll(/[\r\n]+/g, ' ');
  return parseMembers(record).size === 0 ? '' : onOneLine.slice(1, -1).trimEnd();
}

/** The members of a JSON object, by name; none if the string is anything else. */
export const parseMembers = (text: string): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(parseObject(text) ?? {}));
