import { JsonLimitError } from '../../base/index.ts';
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
} from '../page/json-bytes.ts';
import type { Line } from './line-reader.ts';

/** Where the top-level members of a line are in its bytes, by position: numbers only, so that reading makes nothing. */
export type LineMembers = {
  count: number;
  /** True if a name has an escape sequence. */
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

const COLON = 0x3a;
/** Members of a record are values within one object. */
const DEPTH = 1;

/**
 * Finds the members of a line that is a JSON object, without parsing it; all of it is validated, but for what is nested
 * deeper than JSON is read: of that, only the end is found. Replaces what `into` held. Throws `SyntaxError`.
 */
export function readMembers(line: Line, into: LineMembers): void {
  try {
    findMembers(line, into, skipValue);
  } catch (error) {
    if (!(error instanceof JsonLimitError)) throw error;
    findMembers(line, into, skipDeepValue);
  }
}

function findMembers({ json, start, end }: Line, into: LineMembers, skip: typeof skipValue): void {
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
      const valueEnd = skip(json, value, DEPTH);
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

const BACKSLASH = 0x5c;

/** True if the name, with its quotes, has these bytes. A name with escapes is decoded by `nameAt` instead. */
export function isNamed({ json: { bytes } }: Line, members: LineMembers, at: number, name: Buffer): boolean {
  const [start, end] = [members.nameStarts[at] ?? 0, members.nameEnds[at] ?? 0];
  if (end - start !== name.length) return false;
  for (let index = 0; index < name.length; index += 1) if (bytes[start + index] !== name[index]) return false;
  return true;
}

/** A member's name, decoded. */
export function nameAt({ json: { bytes } }: Line, members: LineMembers, at: number): string {
  const [start, end] = [members.nameStarts[at] ?? 0, members.nameEnds[at] ?? 0];
  if (!hasEscape(bytes, start, end)) return bytes.toString('utf8', start + 1, end - 1);
  return JSON.parse(bytes.toString('utf8', start, end)) as string;
}

/** Makes a function like `nameAt` that knows the names of the lines before, as most lines have the same. */
export function createNames(): typeof nameAt {
  const known: QuotedName[] = [];
  return (line, members, at) => {
    const name = known[at];
    if (name !== undefined && isNamed(line, members, at, name.quoted)) return name.name;
    const quoted = line.json.bytes.subarray(members.nameStarts[at], members.nameEnds[at]);
    const found = { name: nameAt(line, members, at), quoted: Buffer.from(quoted) };
    known[at] = found;
    return found.name;
  };
}

/** True if a string has an escape sequence. */
function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true;
  return false;
}

/** A member's name, and its bytes with quotes. */
export type QuotedName = { readonly name: string; readonly quoted: Buffer };

/** The name must need no escapes. */
export const quotedName = (name: string): QuotedName => ({ name, quoted: Buffer.from(`"${name}"`) });

/** The position of a member that is not there. */
export const NONE = -1;

/** True if no member after this one has its name; false, too, if that takes decoding names. */
export function isLastOfName({ json: { bytes } }: Line, members: LineMembers, at: number): boolean {
  if (members.hasEscapes) return false;
  const { nameStarts, nameEnds } = members;
  const start = nameStarts[at] ?? 0;
  const length = (nameEnds[at] ?? 0) - start;
  for (let other = at + 1; other < members.count; other += 1) {
    const from = nameStarts[other] ?? 0;
    if ((nameEnds[other] ?? 0) - from !== length) continue;
    let same = 0;
    while (same < length && bytes[start + same] === bytes[from + same]) same += 1;
    if (same === length) return false;
  }
  return true;
}

/** The last member with a name, or `NONE`: of members with the same name, it counts. */
export function lastNamed(line: Line, members: LineMembers, wanted: QuotedName | undefined): number {
  if (wanted === undefined) return NONE;
  for (let at = members.count - 1; at >= 0; at -= 1) {
    if (isNamed(line, members, at, wanted.quoted)) return at;
    if (members.hasEscapes && nameAt(line, members, at) === wanted.name) return at;
  }
  return NONE;
}
