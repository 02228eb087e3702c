import type { RecordKey } from '../sources/source-definition.ts';
import type { ValuePlaces } from './line-layout.ts';
import type { Line } from './line-reader.ts';

/** The position of a member that is not there. */
const NONE = -1;

/** Where the members that a key needs are among all members; of members with the same name, the last counts. */
export type KeyPlaces = {
  readonly id: number;
  /** The member that is the owner; undefined if keys have none. */
  readonly owner: number | undefined;
};

export function keyPlaces(rule: RecordKey, names: readonly string[]): KeyPlaces {
  const owners = rule.owner?.map((name) => names.lastIndexOf(name));
  return {
    id: names.lastIndexOf(rule.id),
    owner: owners && (owners.find((at) => at !== NONE) ?? NONE),
  };
}

/** The key of a line by the rule of `recordKey`; undefined if its values are missing or have to be parsed. */
export function keyAt(
  { isInteger }: RecordKey,
  line: Line,
  { starts, ends }: ValuePlaces,
  { id, owner }: KeyPlaces,
): string | undefined {
  const { bytes } = line.json;
  if (id === NONE || owner === NONE) return undefined;
  const [start, end] = [starts[id] ?? 0, ends[id] ?? 0];
  const own = isInteger ? digitsAt(bytes, start, end) : textAt(bytes, start, end);
  if (owner === undefined || own === undefined) return own;
  const owning = textAt(bytes, starts[owner] ?? 0, ends[owner] ?? 0);
  return owning === undefined ? undefined : `${owning}/${own}`;
}

const ZERO = 0x30;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The digits of an integer from 0 on. */
function digitsAt(bytes: Buffer, start: number, end: number): string | undefined {
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
function textAt(bytes: Buffer, start: number, end: number): string | undefined {
  if (bytes[start] !== QUOTE) return undefined;
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return undefined;
  return bytes.toString('utf8', start + 1, end - 1);
}

/** True if the bytes, which are a JSON value, are a text of ASCII without escapes: then other bytes are another value. */
export function isPlainText(bytes: Buffer, start: number, end: number): boolean {
  if (bytes[start] !== QUOTE) return false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? BACKSLASH;
    if (byte === BACKSLASH || byte >= 0x80) return false;
  }
  return true;
}
