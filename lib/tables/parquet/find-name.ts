import { type JsonBytes, skipName } from '../../snapshot/page/json-bytes.ts';
import { type Cursor, readName } from './cursor.ts';

const COLON = 0x3a;

/**
 * Makes a function that reads a member's name, moves to its value, and returns which of the names it is; -1 if it is
 * none. Names mostly come in the same order, so `expected` is tried first.
 */
export function finderOf(names: readonly string[]): (cursor: Cursor, expected: number) => number {
  const quoted = names.map(quotedName);
  const indexes = new Map(names.map((name, index) => [name, index]));
  return (cursor, expected) => {
    const { json, at } = cursor;
    const wanted = quoted[expected];
    if (wanted !== undefined && isAt(wanted, json, at)) {
      const colon = at + wanted.length;
      const isTight = json.bytes[colon] === COLON && (json.bytes[colon + 1] ?? 0) > 0x20;
      cursor.at = isTight ? colon + 1 : skipName(json, at);
      return expected;
    }
    const name = readName(cursor);
    return name === undefined ? -1 : (indexes.get(name) ?? -1);
  };
}

/** A name in its quotes: four bytes at a time, then the rest. */
type QuotedName = { readonly length: number; readonly words: Int32Array; readonly rest: Uint8Array };

function quotedName(name: string): QuotedName {
  const bytes = Buffer.from(JSON.stringify(name));
  const words = Int32Array.from({ length: bytes.length >> 2 }, (_, index) => bytes.readInt32LE(4 * index));
  return { length: bytes.length, words, rest: Uint8Array.from(bytes.subarray(4 * words.length)) };
}

function isAt({ length, words, rest }: QuotedName, { bytes, view }: JsonBytes, start: number): boolean {
  if (start + length > bytes.length) return false;
  let at = start;
  for (let index = 0; index < words.length; index += 1, at += 4)
    if (view.getInt32(at, true) !== words[index]) return false;
  for (let index = 0; index < rest.length; index += 1) if (bytes[at + index] !== rest[index]) return false;
  return true;
}
