import {
  CLOSE_OBJECT,
  COMMA,
  holdsMoreValues,
  JsonLimitError,
  OPEN_OBJECT,
  parseJson,
  QUOTE,
  skipDeepValue,
  skipSpace,
  skipText,
  skipValue,
  unexpected,
} from '../../base/json/index.ts';
import { compareIds, idDigits } from '../../platform/index.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import type { Manifest, Part } from '../manifest.ts';
import type { RecordKey } from '../sources/source-definition.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { bytesOf, type Line, type LineReader, lineOf, NOT_A_RECORD, readLines } from './line-reader.ts';

/**
 * The byte positions of a line's top-level members. It has only numbers, so that reading a line allocates no memory.
 */
type LineMembers = {
  count: number;
  hasEscapes: boolean;
  /** The position of each name's opening quote, and the position after its closing quote. */
  readonly nameStarts: number[];
  readonly nameEnds: number[];
  readonly valueStarts: number[];
  readonly valueEnds: number[];
};

/** Creates an empty `LineMembers`, to be reused for many lines. */
export const createMembers = (): LineMembers => ({
  count: 0,
  hasEscapes: false,
  nameStarts: [],
  nameEnds: [],
  valueStarts: [],
  valueEnds: [],
});

/** A line whose members were found. */
export type ReadLine = { readonly line: Line; readonly members: LineMembers };

/**
 * Finds the members of a line, and validates it. With `isDeep`, values may be nested to any depth, but only their
 * brackets are checked.
 */
export function readLine(bytes: Buffer, members = createMembers(), isDeep = false): ReadLine {
  const line = lineOf(bytes);
  readMembers(line, members, isDeep ? skipDeepValue : skipValue);
  return { line, members };
}

const COLON = 0x3a;
const BACKSLASH = 0x5c;

/**
 * Finds the members of a line, and validates the whole line. Throws `SyntaxError` if it is not an object, and
 * `JsonLimitError`.
 */
export function readMembers({ json, start, end }: Line, into: LineMembers, skip = skipValue): void {
  const { bytes } = json;
  into.count = 0;
  into.hasEscapes = false;
  let at = skipSpace(bytes, start);
  if (bytes[at] !== OPEN_OBJECT) throw unexpected(bytes, at);
  at = skipSpace(bytes, at + 1);
  if (bytes[at] !== CLOSE_OBJECT) {
    for (;;) {
      if (bytes[at] !== QUOTE) throw unexpected(bytes, at);
      const nameEnd = skipText(json, at);
      const colon = skipSpace(bytes, nameEnd);
      if (bytes[colon] !== COLON) throw unexpected(bytes, colon);
      const value = skipSpace(bytes, colon + 1);
      // Each value may have the maximum depth: the values of a stored change are whole records.
      const valueEnd = skip(json, value, 0);
      into.nameStarts[into.count] = at;
      into.nameEnds[into.count] = nameEnd;
      into.hasEscapes ||= hasEscape(bytes, at, nameEnd);
      into.valueStarts[into.count] = value;
      into.valueEnds[into.count] = valueEnd;
      into.count += 1;
      at = skipSpace(bytes, valueEnd);
      if (bytes[at] === CLOSE_OBJECT) break;
      if (bytes[at] !== COMMA) throw unexpected(bytes, at);
      at = skipSpace(bytes, at + 1);
    }
  }
  // `<` rather than `!==`: skipSpace also skips the line feed, and may stop one byte after `end`.
  if (skipSpace(bytes, at + 1) < end || at >= end) throw unexpected(bytes, at + 1);
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true;
  return false;
}

const ZERO = 0x30;

/**
 * Whether a value is an integer, or an ASCII string without escapes. Such values are equal only if their bytes
 * are equal, so they can be compared without parsing.
 */
export function isPlain({ json: { bytes } }: Line, start: number, end: number): boolean {
  const isString = bytes[start] === QUOTE;
  if (bytes[start] === ZERO && end - start > 1) return false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? BACKSLASH;
    if (isString ? byte === BACKSLASH || byte >= 0x80 : byte < ZERO || byte > ZERO + 9) return false;
  }
  return true;
}

/** The name of the member with this index. */
export function nameAt({ line, members }: ReadLine, at: number): string {
  const { bytes } = line.json;
  const start = members.nameStarts[at] ?? 0;
  const end = members.nameEnds[at] ?? 0;
  if (!members.hasEscapes) return bytes.toString('utf8', start + 1, end - 1);
  return JSON.parse(bytes.toString('utf8', start, end)) as string;
}

/** The JSON of the value of the member with this index. */
export const valueAt = ({ line, members }: ReadLine, at: number): string =>
  line.json.bytes.toString('utf8', members.valueStarts[at], members.valueEnds[at]);

/** The JSON of all values, by name. If a name is repeated, the last member wins. */
export const valuesByName = (read: ReadLine): ReadonlyMap<string, string> =>
  new Map(Array.from({ length: read.members.count }, (_, at) => [nameAt(read, at), valueAt(read, at)]));

/** The index of a missing member. */
const NONE = -1;

/** The index of the last member with this name (in UTF-8, from `start` to `end`); otherwise `NONE`. */
export function lastNamed(read: ReadLine, name: Buffer, start = 0, end = name.length): number {
  const { line, members } = read;
  const { bytes } = line.json;
  for (let at = members.count - 1; at >= 0; at -= 1) {
    const from = (members.nameStarts[at] ?? 0) + 1;
    let same = (members.nameEnds[at] ?? 0) - 1 - from === end - start ? start : end + 1;
    while (same < end && bytes[from + same - start] === name[same]) same += 1;
    if (same === end) return at;
    if (members.hasEscapes && nameAt(read, at) === name.toString('utf8', start, end)) return at;
  }
  return NONE;
}

/**
 * The JSON of some members of an object, by name. Values of more than `maxBytes` are left out. Throws the errors of
 * `readMembers`.
 */
export function memberJson(
  object: Buffer,
  names: readonly string[],
  { maxBytes, isDeep }: { readonly maxBytes: number; readonly isDeep: boolean },
): ReadonlyMap<string, string> {
  const read = readLine(object, createMembers(), isDeep);
  const { valueStarts, valueEnds } = read.members;
  const found = new Map<string, string>();
  for (const name of names) {
    const at = lastNamed(read, Buffer.from(name));
    const isShort = (valueEnds[at] ?? 0) - (valueStarts[at] ?? 0) <= maxBytes;
    if (at !== NONE && isShort) found.set(name, valueAt(read, at));
  }
  return found;
}

/** A field with more values than this is not parsed. */
const MAX_READ_VALUES = 2_000_000;

/**
 * Finds the members of a reader's current line; a value that is not an object has no members. Throws
 * `StoredObjectError` if the line is not JSON.
 */
function readRecord({ line, location }: LineReader, members: LineMembers): ReadLine {
  try {
    if (line.json.bytes[line.start] !== OPEN_OBJECT) {
      members.count = 0;
      if (!isObject(parseJson(bytesOf(line).toString()))) return { line, members };
    }
    readMembers(line, members);
    return { line, members };
  } catch (cause) {
    throw new StoredObjectError('invalid', `${location()}: ${NOT_A_RECORD}`, { cause });
  }
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Creates a function that parses some fields of a reader's current line. It leaves out fields that exceed the
 * limits of the JSON parser.
 */
export function createRecordFields(names: readonly string[], members = createMembers()) {
  const wanted = names.map((name) => ({ name, bytes: Buffer.from(name) }));
  return (reader: LineReader): Readonly<Record<string, unknown>> => {
    const read = readRecord(reader, members);
    const record: Record<string, unknown> = {};
    for (const { name, bytes } of wanted) {
      const at = lastNamed(read, bytes);
      const text = at === NONE ? '' : valueAt(read, at);
      if (text === '' || holdsMoreValues(text, MAX_READ_VALUES)) continue;
      try {
        record[name] = parseJson(text);
      } catch (error) {
        if (!(error instanceof JsonLimitError)) throw error;
      }
    }
    return record;
  };
}

/**
 * Creates a function that returns the key of a reader's current line, and fills `members` with the line's members. It
 * throws `StoredObjectError` if the line is not a record with a key.
 */
export function createLineKey(rule: RecordKey, members = createMembers()): (reader: LineReader) => string {
  const keyOf = createPlainKey(rule);
  const readFields = createRecordFields([...(rule.owner ?? []), rule.id], members);
  return (reader) => {
    const key = keyOf(readRecord(reader, members)) ?? recordKey(rule, readFields(reader));
    if (key !== undefined) return key;
    throw new StoredObjectError(
      'invalid',
      `${reader.location()}: expected a record with ${describeKey(rule)}, got none`,
    );
  };
}

/** Creates a function that reads the key of a line without parsing the line; undefined if that is not possible. */
function createPlainKey({ owner, id, isInteger }: RecordKey) {
  const idName = Buffer.from(id);
  const owners = owner?.map((name) => Buffer.from(name));
  return (read: ReadLine): string | undefined => {
    const at = lastNamed(read, idName);
    const key = at === NONE ? undefined : plainAt(read, at, isInteger);
    if (owners === undefined || key === undefined) return key;
    const ownerAt = owners.map((name) => lastNamed(read, name)).find((each) => each !== NONE) ?? NONE;
    const owning = ownerAt === NONE ? undefined : plainAt(read, ownerAt);
    return owning === undefined ? undefined : `${owning}/${key}`;
  };
}

/**
 * A member's value, if it can be read without parsing: the digits of an integer, or ASCII without escapes;
 * otherwise undefined.
 */
function plainAt({ line, members }: ReadLine, at: number, isInteger = false): string | undefined {
  const { bytes } = line.json;
  const start = members.valueStarts[at] ?? 0;
  const end = members.valueEnds[at] ?? 0;
  const isString = bytes[start] === QUOTE;
  if (isString === isInteger || !isPlain(line, start, end)) return undefined;
  return isString ? bytes.toString('latin1', start + 1, end - 1) : bytes.toString('latin1', start, end);
}

/**
 * The key of a record: its id, preceded by the owner's id and a slash if the source has owners. Undefined if
 * a field that it needs is absent.
 */
export function recordKey({ owner, id, isInteger }: RecordKey, record: unknown): string | undefined {
  if (typeof record !== 'object' || record === null) return undefined;
  const fields = record as Readonly<Record<string, unknown>>;
  const own = isInteger ? idDigits(fields[id]) : textOf(fields[id]);
  if (owner === undefined || own === undefined) return own;
  const owning = textOf(owner.map((name) => fields[name]).find((value) => value != null));
  return owning === undefined ? undefined : `${owning}/${own}`;
}

function describeKey({ owner, id, isInteger }: RecordKey): string {
  const own = isInteger ? `an integer as its ${id}` : id;
  return owner === undefined ? own : `${owner.join(' or ')}${isInteger ? ',' : ''} and ${own}`;
}

/**
 * Creates a comparison of two keys. If ids are integers, keys are compared by owner (as strings) and then by
 * the integer, of any size; otherwise as strings.
 */
export function compareRecordKeys({ owner, isInteger }: RecordKey): (a: string, b: string) => number {
  if (!isInteger) return compareTexts;
  return owner === undefined ? compareIds : compareOwned;
}

/**
 * The id by which a record was requested: the owner's if the source has owners, otherwise the record's. If record ids are
 * integers, the owner may contain slashes, so the key is split at the last slash; otherwise at the first.
 */
export function requestedId({ owner, isInteger }: RecordKey, key: string): string {
  if (owner === undefined) return key;
  return key.slice(0, isInteger ? key.lastIndexOf('/') : key.indexOf('/'));
}

function compareOwned(a: string, b: string): number {
  const left = a.lastIndexOf('/');
  const right = b.lastIndexOf('/');
  return (
    compareTexts(a.slice(0, left), b.slice(0, right)) || compareIds(a.slice(left + 1), b.slice(right + 1))
  );
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : idDigits(value));

const KEYS_PER_BATCH = 1_000;

/**
 * The keys of a run's records in order, in batches of a thousand: yielding them one by one would take twice as long.
 * Throws `StoredObjectError`.
 */
export async function* runKeys(options: {
  readonly store: Store;
  readonly source: Source;
  readonly run: Pick<Manifest, 'parts'>;
  readonly signal?: AbortSignal | undefined;
}): AsyncGenerator<readonly string[]> {
  const { store, source, run, signal } = options;
  const keyOf = createLineKey(sourceDefinitions[source].records.key);
  const reader = readLines({ store, parts: run.parts, signal });
  let keys: string[] = [];
  try {
    for (let found = reader.next(); typeof found === 'boolean' ? found : await found; found = reader.next()) {
      keys.push(keyOf(reader));
      reader.release();
      if (keys.length < KEYS_PER_BATCH) continue;
      yield keys;
      keys = [];
    }
    if (keys.length > 0) yield keys;
  } finally {
    await reader.close();
  }
}

/**
 * Finds the records of a run that have this key, or this id under any owner, and yields them as JSON. Reads only parts
 * that may contain such a record.
 */
export async function* findRecords(options: {
  readonly store: Store;
  readonly source: Source;
  readonly manifest: Pick<Manifest, 'order' | 'parts'>;
  /** A key, or an id without its owner. */
  readonly id: string;
  readonly signal?: AbortSignal | undefined;
}): AsyncGenerator<{ readonly key: string; readonly text: string }> {
  const {
    store,
    source,
    manifest: { order, parts: all },
    id,
    signal,
  } = options;
  const { key: rule } = sourceDefinitions[source].records;
  const isOwned = rule.owner !== undefined;
  const isOrdered = (!isOwned || id.includes('/')) && KEY_ORDERS.includes(order) && endsInDigits(id);
  const parts = all.filter(isOrdered ? mayContain(id, compareRecordKeys(rule)) : () => true);
  const keyOf = createLineKey(rule);
  const reader = readLines({ store, parts, signal });
  try {
    for (let next = reader.next(); next === true || (await next); next = reader.next()) {
      const key = keyOf(reader);
      if (key === id || (isOwned && key.endsWith(`/${id}`)))
        yield { key, text: bytesOf(reader.line).toString() };
      reader.release();
    }
  } finally {
    await reader.close();
  }
}

/** The values of `order` in which keys never decrease. */
const KEY_ORDERS: readonly string[] = ['id', 'ids'];

/** Whether a part may contain a record with this key. True if the part's first and last key do not rule it out. */
const mayContain =
  (key: string, compare: (a: string, b: string) => number) =>
  ({ firstKey, lastKey }: Part): boolean =>
    ![firstKey, lastKey].every(endsInDigits) ||
    compare(firstKey, lastKey) > 0 ||
    (compare(firstKey, key) <= 0 && compare(key, lastKey) <= 0);

const endsInDigits = (key: string): boolean => /^\d+$/.test(key.slice(key.lastIndexOf('/') + 1));
