import {
  CLOSE_OBJECT,
  COMMA,
  OPEN_OBJECT,
  QUOTE,
  skipDeepValue,
  skipSpace,
  skipText,
  skipValue,
  unexpected,
} from '../../base/bytes/index.ts';
import { holdsMoreValues, JsonLimitError, parseJson } from '../../base/json/index.ts';
import { StoredObjectError } from '../../store/index.ts';
import { bytesOf, type Line, type LineReader, lineOf, NO_RECORD } from './line-reader.ts';

/** Where the top-level members of a line are in its bytes, by position: numbers only, so that reading makes nothing. */
type LineMembers = {
  count: number;
  hasEscapes: boolean;
  /** The first byte of the name, its opening quote, and the byte after its closing quote. */
  readonly nameStarts: number[];
  readonly nameEnds: number[];
  readonly valueStarts: number[];
  readonly valueEnds: number[];
};

export const noMembers = (): LineMembers => ({
  count: 0,
  hasEscapes: false,
  nameStarts: [],
  nameEnds: [],
  valueStarts: [],
  valueEnds: [],
});

export type ReadLine = { readonly line: Line; readonly members: LineMembers };

/** `isDeep`: values may be nested however deep, and are then only followed by their brackets. */
export function readLine(bytes: Buffer, members = noMembers(), isDeep = false): ReadLine {
  const line = lineOf(bytes);
  readMembers(line, members, isDeep ? skipDeepValue : skipValue);
  return { line, members };
}

const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Finds the members of a line that is an object, and validates all of it. Throws `SyntaxError` and `JsonLimitError`. */
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
      // A change holds two records that may be as deep as can be, so its own depth does not count.
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
  // Not `!==`: the line feed after the line is space too.
  if (skipSpace(bytes, at + 1) < end || at >= end) throw unexpected(bytes, at + 1);
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true;
  return false;
}

const ZERO = 0x30;

/** True for a text of ASCII without escapes, or an integer: with other bytes, it is another value. */
export function isPlain({ json: { bytes } }: Line, start: number, end: number): boolean {
  const isText = bytes[start] === QUOTE;
  if (bytes[start] === ZERO && end - start > 1) return false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? BACKSLASH;
    if (isText ? byte === BACKSLASH || byte >= 0x80 : byte < ZERO || byte > ZERO + 9) return false;
  }
  return true;
}

export function nameAt({ line, members }: ReadLine, at: number): string {
  const { bytes } = line.json;
  const start = members.nameStarts[at] ?? 0;
  const end = members.nameEnds[at] ?? 0;
  if (!members.hasEscapes) return bytes.toString('utf8', start + 1, end - 1);
  return JSON.parse(bytes.toString('utf8', start, end)) as string;
}

export const valueAt = ({ line, members }: ReadLine, at: number): string =>
  line.json.bytes.toString('utf8', members.valueStarts[at], members.valueEnds[at]);

/** The texts of all values by name; of members with the same name, the last counts. */
export const valuesByName = (read: ReadLine): ReadonlyMap<string, string> =>
  new Map(Array.from({ length: read.members.count }, (_, at) => [nameAt(read, at), valueAt(read, at)]));

/** The position of a member that is not there. */
export const NONE = -1;

/** The last member whose name is in these bytes, or `NONE`: of members with the same name, it counts. */
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

/** The texts of some members of an object, by name, but for values of more than `maxBytes`. Throws what `readMembers` throws. */
export function memberTexts(
  object: Buffer,
  names: readonly string[],
  { maxBytes, isDeep }: { readonly maxBytes: number; readonly isDeep: boolean },
): ReadonlyMap<string, string> {
  const read = readLine(object, noMembers(), isDeep);
  const { valueStarts, valueEnds } = read.members;
  const found = new Map<string, string>();
  for (const name of names) {
    const at = lastNamed(read, Buffer.from(name));
    const isShort = (valueEnds[at] ?? 0) - (valueStarts[at] ?? 0) <= maxBytes;
    if (at !== NONE && isShort) found.set(name, valueAt(read, at));
  }
  return found;
}

/** The most values of a field that ids are taken from. */
const MAX_READ_VALUES = 2_000_000;

/** Finds the members of a reader's current line: none of what is no object. Throws `StoredObjectError` if it is not JSON. */
export function readRecord({ line, place }: LineReader, members: LineMembers): ReadLine {
  try {
    if (line.json.bytes[line.start] !== OPEN_OBJECT) {
      members.count = 0;
      if (!isObject(parseJson(bytesOf(line).toString()))) return { line, members };
    }
    readMembers(line, members);
    return { line, members };
  } catch (cause) {
    throw new StoredObjectError('invalid', `${place()}: ${NO_RECORD}`, { cause });
  }
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Makes a function that parses some fields of a reader's current line; one beyond the limits of JSON is left out. */
export function createRecordFields(names: readonly string[], members = noMembers()) {
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
