import { JsonLimitError } from '../../json/json-limits.ts';
import {
  CLOSE_OBJECT,
  COMMA,
  OPEN_OBJECT,
  skipDeepValue,
  skipName,
  skipSpace,
  skipValue,
  unexpected,
} from '../page/json-bytes.ts';
import type { Line } from './line-reader.ts';

/** Where the top-level members of a line are in its bytes, by position: numbers only, so that reading makes nothing. */
export type LineMembers = {
  count: number;
  /** The first byte of the name, its opening quote, and the byte after its closing quote. */
  readonly nameStarts: number[];
  readonly nameEnds: number[];
  readonly valueStarts: number[];
  readonly valueEnds: number[];
};

export const noMembers = (): LineMembers => ({
  count: 0,
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
  let at = skipSpace(bytes, start);
  if (bytes[at] !== OPEN_OBJECT) throw unexpected(bytes, at);
  at = skipSpace(bytes, at + 1);
  if (bytes[at] !== CLOSE_OBJECT) {
    for (;;) {
      const value = skipName(json, at);
      const valueEnd = skip(json, value, DEPTH);
      into.nameStarts[into.count] = at;
      into.nameEnds[into.count] = nameEnd(bytes, value);
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

/** The end of the name before a value: there is only its colon between them, and space. */
function nameEnd(bytes: Buffer, value: number): number {
  let at = value - 1;
  while (bytes[at] !== COLON) at -= 1;
  at -= 1;
  while ((bytes[at] ?? 0) <= 0x20) at -= 1;
  return at + 1;
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

/** The last member with a name, or `NONE`: of members with the same name, it counts. */
export function lastNamed(line: Line, members: LineMembers, wanted: QuotedName | undefined): number {
  if (wanted === undefined) return NONE;
  const { bytes } = line.json;
  for (let at = members.count - 1; at >= 0; at -= 1) {
    if (isNamed(line, members, at, wanted.quoted)) return at;
    const isEscaped = hasEscape(bytes, members.nameStarts[at] ?? 0, members.nameEnds[at] ?? 0);
    if (isEscaped && nameAt(line, members, at) === wanted.name) return at;
  }
  return NONE;
}
