import { shortened } from '../../base/index.ts';
import { holdsMoreValues, parseExact, parseOwnJson, printExact } from '../../base/json/index.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import type { Manifest } from '../manifest.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { createMembers, type ReadLine, readLine, readMembers, valuesByName } from './line-members.ts';
import { readLines } from './line-reader.ts';

/** What happened to one record between two runs. `before` and `after` are its lines as bytes. */
export type LineChange =
  | { readonly change: 'added'; readonly key: string; readonly after: Buffer }
  | { readonly change: 'removed'; readonly key: string; readonly before: Buffer }
  | {
      readonly change: 'changed';
      readonly key: string;
      readonly before: Buffer;
      readonly after: Buffer;
      /** The top-level fields that differ, in the order of their names; at least one. */
      readonly fields: readonly string[];
    };

type AsText<C> = C extends unknown ? { readonly [M in keyof C]: C[M] extends Buffer ? string : C[M] } : never;

/** What happened to one record between two runs. `before` and `after` are its lines as strings. */
export type Change = AsText<LineChange>;

/** A change as one line of JSON, without the line end. The records have the same bytes as in the parts. */
export function printChange(change: Change): string {
  return piecesOf(change).join('');
}

/** The pieces of the line that `printChange` returns, in order: strings of JSON, and the records unchanged. */
export function piecesOf<L extends string | Buffer>(change: ChangeOf<L>): readonly (string | L)[] {
  const { key, before, after, fields = [] } = change;
  const pieces: (string | L)[] = [];
  let json = `{"change":"${change.change}","key":${JSON.stringify(key)}`;
  for (const [name, line] of [['before', before] as const, ['after', after] as const]) {
    if (line === undefined) continue;
    pieces.push(`${json},"${name}":`, line);
    json = '';
  }
  pieces.push(`${json},"fields":${JSON.stringify(fields)}}`);
  return pieces;
}

type ChangeOf<L> = {
  readonly change: Change['change'];
  readonly key: string;
  readonly before?: L;
  readonly after?: L;
  readonly fields?: readonly string[];
};

/** The fields of a record by name, each parsed by `exactValue`. */
export const fieldsOf = (line: string): ReadonlyMap<string, unknown> =>
  new Map(Array.from(valuesByName(readLine(Buffer.from(line))), ([name, text]) => [name, exactValue(text)]));

type ChangeCounts = { readonly added: number; readonly removed: number; readonly changed: number };

/** Reads all changes: counts all of them, and collects the first `limit`. */
export async function collectChanges(
  found: AsyncIterable<Change>,
  limit: number,
): Promise<{ readonly counts: ChangeCounts; readonly changes: readonly Change[] }> {
  const counts = { added: 0, removed: 0, changed: 0 };
  const changes: Change[] = [];
  for await (const change of found) {
    counts[change.change] += 1;
    if (changes.length < limit) changes.push(change);
  }
  return { counts, changes };
}

/** A field with more values than this is not parsed, since millions of values would take gigabytes. */
const MAX_VALUES = 100_000;

/** Parses the JSON of a field, with exact numbers. If the field has too many values, returns the JSON as it is. */
export const exactValue = (text: string): unknown =>
  holdsMoreValues(text, MAX_VALUES) ? text : parseExact(text);

type StoredChangesOptions = {
  readonly store: Store;
  readonly changes: Manifest['changes'];
  readonly signal?: AbortSignal | undefined;
};

/**
 * The changes that were stored when a run was published; undefined if the run was not compared, or if they no longer
 * exist. Throws `StoredObjectError`.
 */
export async function storedChanges(
  options: StoredChangesOptions,
): Promise<AsyncGenerator<Change> | undefined> {
  const { store, changes } = options;
  if (changes === null) return undefined;
  const isThere = (await store.list(changes.key).next()).value?.key === changes.key;
  return isThere ? readChanges(changes.key, options) : undefined;
}

async function* readChanges(key: string, { store, signal }: StoredChangesOptions): AsyncGenerator<Change> {
  const reader = readLines({ store, parts: [{ key }], signal });
  const read = { line: reader.line, members: createMembers() };
  try {
    for (let found = reader.next(); found === true || (await found); found = reader.next())
      yield changeOfLine(read, reader.location);
  } finally {
    await reader.close();
  }
}

/** Parses a stored change. Its records stay unparsed, so that their bytes do not change. */
function changeOfLine(read: ReadLine, location: () => string): Change {
  try {
    readMembers(read.line, read.members);
    const found = Array.from(valuesByName(read), ([name, text]) => [
      name,
      name === 'before' || name === 'after' ? text : parseOwnJson(text),
    ]);
    return Object.fromEntries(found) as Change;
  } catch (cause) {
    throw new StoredObjectError('invalid', `${location()}: expected a change, got something else`, { cause });
  }
}

/** Maximum characters to show of a value. */
const MAX_SHOWN = 60;
/** The number of equal characters to show before the first difference. */
const LEADING_CHARACTERS = 12;
const MAX_FIELDS = 100;
const MAX_KEY_LENGTH = 200;

/**
 * Describes changes in words, one line for each record and for each field that differs. Strings from the platform are
 * not escaped, so escape the result before printing it to a terminal.
 */
export function describeChanges(source: Source, changes: readonly Change[]): readonly string[] {
  return changes.flatMap((change) => {
    const record = fieldsOf('after' in change ? change.after : change.before);
    const label = record.get(sourceDefinitions[source].records.label);
    const name = typeof label === 'string' ? `${shorten(label)} ` : '';
    return [
      `${change.change} ${name}(${shortened(change.key, MAX_KEY_LENGTH)})`,
      ...fieldLines(source, change),
    ];
  });
}

function fieldLines(source: Source, change: Change): readonly string[] {
  if (change.change !== 'changed') return [];
  const before = fieldsOf(change.before);
  const after = fieldsOf(change.after);
  const lines = change.fields.slice(0, MAX_FIELDS).map((name) => {
    const isTime = `${name}_at` in sourceDefinitions[source].columns;
    const [old, now] = shortenPair(printField(before, name, isTime), printField(after, name, isTime));
    return `  ${shorten(name)}: ${old} → ${now}`;
  });
  const others = change.fields.length - lines.length;
  return others === 0 ? lines : [...lines, `  and ${others} more fields`];
}

/** Prints a field. Epoch milliseconds become a date. */
function printField(fields: ReadonlyMap<string, unknown>, name: string, isTime: boolean): string {
  if (!fields.has(name)) return '(absent)';
  const printed = printExact(fields.get(name));
  const date = new Date(isTime && /^-?\d+$/.test(printed) ? Number(printed) : Number.NaN);
  return Number.isNaN(date.getTime()) ? printed : date.toISOString();
}

/** Shortens two strings so that both begin shortly before their first difference. */
function shortenPair(before: string, after: string): readonly [string, string] {
  if (isShort(before) && isShort(after)) return [before, after];
  let differs = 0;
  while (differs < before.length && before[differs] === after[differs]) differs += 1;
  if (isFirstHalf(before.charCodeAt(differs - 1))) differs -= 1;
  const lead = [...before.slice(Math.max(0, differs - 2 * LEADING_CHARACTERS), differs)]
    .slice(-LEADING_CHARACTERS)
    .join('');
  const start = differs - lead.length;
  const mark = start === 0 ? '' : '…';
  return [`${mark}${shorten(before.slice(start))}`, `${mark}${shorten(after.slice(start))}`];
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

/**
 * The first characters of a string that may be very long, at least `MAX_SHOWN` plus 1 if it has them. A character has
 * at most two UTF-16 units.
 */
const firstOf = (text: string): readonly string[] => [...text.slice(0, 2 * (MAX_SHOWN + 1))];

const isShort = (text: string): boolean => text.length <= 2 * MAX_SHOWN && [...text].length <= MAX_SHOWN;

const shorten = (text: string): string =>
  isShort(text)
    ? text
    : `${firstOf(text)
        .slice(0, MAX_SHOWN - 1)
        .join('')}…`;
