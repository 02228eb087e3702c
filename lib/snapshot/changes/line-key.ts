import { StoredObjectError } from '../../store/index.ts';
import { COMMA, OPEN_OBJECT, QUOTE } from '../page/json-bytes.ts';
import type { RecordKey } from '../sources/source-definition.ts';
import { parsedLine } from './deep-lines.ts';
import { type LineMembers, lastNamed, NONE, noMembers, quotedName, readMembers } from './line-members.ts';
import type { Line, LineReader } from './line-reader.ts';
import { describeKey, recordKey } from './record-key.ts';

const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;

/**
 * Makes a function that returns the key of a reader's current line, by the rule of `recordKey`, without parsing the
 * line unless it is unusual. Throws `StoredObjectError` that names a line that is not a record with a key.
 */
export function createLineKey(rule: RecordKey): (reader: LineReader) => string {
  const members = noMembers();
  const keyAt = createKeyAt(rule);
  return (reader) => {
    try {
      readMembers(reader.line, members);
      const key = keyAt(reader.line, members);
      if (key !== undefined) return key;
    } catch {
      // Not an object, or not JSON.
    }
    const key = recordKey(rule, parsedLine(reader));
    if (key !== undefined) return key;
    throw new StoredObjectError(
      'invalid',
      `${reader.place()}: expected a record with ${describeKey(rule)}, got none`,
    );
  };
}

/** Makes a function that returns the key of a line whose members were found; undefined if it has to be parsed for that. */
export function createKeyAt({ owner, id, isInteger }: RecordKey) {
  const own = quotedName(id);
  const owners = owner?.map(quotedName);
  return (line: Line, members: LineMembers): string | undefined => {
    const at = lastNamed(line, members, own);
    if (at === NONE) return undefined;
    const key = (isInteger ? digitsAt : plainTextAt)(line, members, at);
    if (owners === undefined || key === undefined) return key;
    for (const name of owners) {
      const ownerAt = lastNamed(line, members, name);
      if (ownerAt === NONE) continue;
      const owning = plainTextAt(line, members, ownerAt);
      return owning === undefined ? undefined : `${owning}/${key}`;
    }
    return undefined;
  };
}

/**
 * The same for a line whose bytes are known to be those of a record, such as a line that is equal in two runs: if it
 * begins with its key, nothing after it is read.
 */
export function createQuickKey(rule: RecordKey): (reader: LineReader) => string {
  const readKey = createLineKey(rule);
  const heads = [...(rule.owner?.slice(0, 1) ?? []), rule.id].map((name) => Buffer.from(`"${name}":`));
  return (reader) => {
    const { json, end } = reader.line;
    const { bytes } = json;
    let at = reader.line.start;
    let key = '';
    if (bytes[at] !== OPEN_OBJECT) return readKey(reader);
    for (let index = 0; index < heads.length; index += 1) {
      const head = heads[index] ?? bytes;
      at += 1;
      for (let each = 0; each < head.length; each += 1)
        if (bytes[at + each] !== head[each]) return readKey(reader);
      const start = at + head.length;
      at = index === heads.length - 1 && rule.isInteger ? digitsEnd(bytes, start) : textEnd(bytes, start);
      if (at >= end || bytes[at] !== COMMA) return readKey(reader);
      const isText = bytes[start] === QUOTE;
      const value = bytes.toString('utf8', isText ? start + 1 : start, isText ? at - 1 : at);
      key = index === 0 ? value : `${key}/${value}`;
    }
    return key;
  };
}

const NO_END = Number.POSITIVE_INFINITY;

/** The end of an integer from 0 on. */
function digitsEnd(bytes: Buffer, start: number): number {
  let at = start;
  while ((bytes[at] ?? 0) >= ZERO && (bytes[at] ?? 0) <= NINE) at += 1;
  return at > start && isWhole(bytes, start, at) ? at : NO_END;
}

/** The end of a text without escapes. */
function textEnd(bytes: Buffer, start: number): number {
  if (bytes[start] !== QUOTE) return NO_END;
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at += 1;
  return bytes[at] === QUOTE ? at + 1 : NO_END;
}

/** The digits of an integer from 0 on. */
function digitsAt({ json: { bytes } }: Line, { valueStarts, valueEnds }: LineMembers, at: number) {
  const [start, end] = [valueStarts[at] ?? 0, valueEnds[at] ?? 0];
  return isWhole(bytes, start, end) ? bytes.toString('latin1', start, end) : undefined;
}

/** True if the bytes, which are a JSON value, are digits alone: then other bytes are another value. */
export function isWhole(bytes: Buffer, start: number, end: number): boolean {
  if (bytes[start] === ZERO && end - start > 1) return false;
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return false;
  }
  return true;
}

/** A text without escapes. */
function plainTextAt({ json: { bytes } }: Line, { valueStarts, valueEnds }: LineMembers, at: number) {
  const [start, end] = [valueStarts[at] ?? 0, valueEnds[at] ?? 0];
  return textEnd(bytes, start) === end ? bytes.toString('utf8', start + 1, end - 1) : undefined;
}
