/*
 * A JSON validator over bytes, by RFC 8259. Each function `skipX` takes the index at which an X starts, and returns the
 * index after its end, or throws. It creates no values and no strings. The bytes must be valid UTF-8, which is not
 * checked here.
 *
 * Bytes are read with `?? END`. A byte past the end matches nothing, so every branch ends in its error. As long as
 * V8 has seen no such byte, the check is free. Some functions are long because an extra call was measured to be
 * slower.
 */

import { MAX_DEPTH, tooDeep } from './json.ts';

/** JSON in UTF-8, and a view of the same bytes, which reads four of them at once. */
export type JsonBytes = { readonly bytes: Buffer; readonly view: DataView };

/** Wraps bytes for the functions of this file. */
export function jsonBytesOf(bytes: Uint8Array): JsonBytes {
  const { buffer, byteOffset, byteLength } = bytes;
  const view = new DataView(buffer, byteOffset, byteLength);
  return { bytes: bytes instanceof Buffer ? bytes : Buffer.from(buffer, byteOffset, byteLength), view };
}

const END = -1;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
const COLON = 0x3a;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** The index behind the value that starts at `at`, within `depth` arrays and objects. Throws for invalid JSON. */
export function skipValue(json: JsonBytes, at: number, depth: number): number {
  const first = json.bytes[at] ?? END;
  if (first === QUOTE) return skipText(json, at);
  if (first === OPEN_OBJECT) return skipObject(json, at, depth + 1);
  if (first === OPEN_ARRAY) return skipArray(json, at, depth + 1);
  if (first === 0x74) return skipLetters(json, at, TRUE);
  if (first === 0x66) return skipLetters(json, at + 1, ALSE);
  if (first === 0x6e) return skipLetters(json, at, NULL);
  return skipNumber(json.bytes, at);
}

/**
 * The index behind a value of any depth, without recursion. Within arrays and objects, checks only brackets and
 * strings.
 */
export function skipDeepValue(json: JsonBytes, start: number, depth: number): number {
  const { bytes } = json;
  if (bytes[start] !== OPEN_OBJECT && bytes[start] !== OPEN_ARRAY) return skipValue(json, start, depth);
  let open = 0;
  for (let at = start; at < bytes.length; ) {
    const byte = bytes[at];
    at = byte === QUOTE ? skipText(json, at) : at + 1;
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) open += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) open -= 1;
    if (open === 0) return at;
  }
  throw unexpected(bytes, bytes.length);
}

function skipObject(json: JsonBytes, start: number, depth: number): number {
  const { bytes } = json;
  if (depth > MAX_DEPTH) throw tooDeep(` at byte ${start}`);
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_OBJECT) return at + 1;
  for (;;) {
    at = skipValue(json, skipName(json, at), depth);
    at = skipSpace(bytes, at);
    const next = bytes[at] ?? END;
    if (next === CLOSE_OBJECT) return at + 1;
    if (next !== COMMA) throw unexpected(bytes, at);
    at = skipSpace(bytes, at + 1);
  }
}

function skipArray(json: JsonBytes, start: number, depth: number): number {
  const { bytes } = json;
  if (depth > MAX_DEPTH) throw tooDeep(` at byte ${start}`);
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_ARRAY) return at + 1;
  for (;;) {
    at = skipSpace(bytes, skipValue(json, at, depth));
    const next = bytes[at] ?? END;
    if (next === CLOSE_ARRAY) return at + 1;
    if (next !== COMMA) throw unexpected(bytes, at);
    at = skipSpace(bytes, at + 1);
  }
}

/** Skips a member's name, its colon and the space around the colon, and returns the index where the value starts. */
export function skipName(json: JsonBytes, at: number): number {
  const { bytes } = json;
  if (bytes[at] !== QUOTE) throw unexpected(bytes, at);
  const colon = skipSpace(bytes, skipText(json, at));
  if (bytes[colon] !== COLON) throw unexpected(bytes, colon);
  return skipSpace(bytes, colon + 1);
}

/**
 * Skips the string whose opening quote is at `quote`. Four bytes are checked together, as an int32:
 * subtraction sets a byte's high bit if the byte is lower than what is subtracted from it. `^ 0x02` swaps the
 * quote (0x22) with the space (0x20), so that "below 0x21" means a control character or a quote; `^ 0x5c`
 * turns a backslash into 0, which is below 0x01. Bytes beyond ASCII have the high bit set anyway and are
 * never special. Only the lowest mark is exact, and only that mark is used.
 */
export function skipText({ bytes, view }: JsonBytes, quote: number): number {
  const lastWord = bytes.length - 4;
  let at = quote + 1;
  for (;;) {
    while (at <= lastWord) {
      const word = view.getInt32(at, true);
      const marks =
        (((word ^ 0x02020202) - 0x21212121) | ((word ^ 0x5c5c5c5c) - 0x01010101)) & ~word & 0x80808080;
      if (marks !== 0) {
        at += (31 - Math.clz32(marks & -marks)) >> 3;
        break;
      }
      at += 4;
    }
    const byte = bytes[at] ?? END;
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at = skipEscape(bytes, at);
    else if (byte >= 0x20) at += 1;
    else throw unexpected(bytes, at);
  }
}

/** True if the value at `at` is a string with at least one character. The value must be valid. */
export const isFilledText = ({ bytes }: JsonBytes, at: number): boolean =>
  bytes[at] === QUOTE && bytes[at + 1] !== QUOTE;

function skipEscape(bytes: Uint8Array, backslash: number): number {
  const letter = bytes[backslash + 1] ?? END;
  if (SIMPLE_ESCAPES.includes(letter)) return backslash + 2;
  if (letter !== 0x75) throw unexpected(bytes, backslash + 1);
  for (let at = backslash + 2; at < backslash + 6; at += 1) {
    if (!isHexDigit(bytes[at] ?? END)) throw unexpected(bytes, at);
  }
  return backslash + 6;
}

const SIMPLE_ESCAPES: readonly number[] = [...Buffer.from('"\\/bfnrt')];

function isHexDigit(byte: number): boolean {
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}

function skipNumber(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start;
  at = bytes[at] === ZERO ? at + 1 : skipDigits(bytes, at);
  if (bytes[at] === DOT) at = skipDigits(bytes, at + 1);
  if (((bytes[at] ?? END) | 0x20) !== 0x65) return at;
  const sign = bytes[at + 1] ?? END;
  return skipDigits(bytes, sign === PLUS || sign === MINUS ? at + 2 : at + 1);
}

function skipDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isDigit(bytes[at] ?? END)) at += 1;
  if (at === start) throw unexpected(bytes, at);
  return at;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** Four letters as an int32: `true`, `null`, and `alse`, the rest of `false`. */
const TRUE = 0x65757274;
const NULL = 0x6c6c756e;
const ALSE = 0x65736c61;

function skipLetters({ bytes, view }: JsonBytes, start: number, letters: number): number {
  if (start + 4 <= bytes.length && view.getInt32(start, true) === letters) return start + 4;
  let at = start;
  while (bytes[at] === ((letters >> (8 * (at - start))) & 0xff)) at += 1;
  throw unexpected(bytes, at);
}

/** The index of the first byte from `start` that is not white space. */
export function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    const byte = bytes[at] ?? END;
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return at;
    at += 1;
  }
}

/** The error for a byte that JSON does not allow there. */
export function unexpected(bytes: Uint8Array, at: number): SyntaxError {
  const byte = bytes[at];
  if (byte === undefined) return new SyntaxError(`invalid JSON: it is incomplete and ends at byte ${at}`);
  return new SyntaxError(`invalid JSON: unexpected 0x${byte.toString(16).padStart(2, '0')} at byte ${at}`);
}

/**
 * The index of the first item of the array or object that begins at `open`. Without items, it is the complement
 * (`~`) of the index behind the closing bracket, and so below 0.
 */
export function firstItem(bytes: Buffer, open: number, close: number): number {
  const at = skipSpace(bytes, open + 1);
  return bytes[at] === close ? ~(at + 1) : at;
}

/**
 * The index of the next item. After the last item, it is the complement (`~`) of the index behind the closing
 * bracket, and so below 0.
 */
export function nextItem(bytes: Buffer, behind: number, close: number): number {
  let at = behind;
  let byte = bytes[at];
  if (byte !== COMMA && byte !== close) {
    at = skipSpace(bytes, at);
    byte = bytes[at];
    if (byte !== COMMA && byte !== close) throw unexpected(bytes, at);
  }
  at += 1;
  if (byte === close) return ~at;
  return (bytes[at] ?? 0) <= 0x20 ? skipSpace(bytes, at) : at;
}
