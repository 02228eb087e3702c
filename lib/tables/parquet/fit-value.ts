import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  type JsonBytes,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipDeepValue,
  skipName,
  skipSpace,
  skipText,
  skipValue,
  unexpected,
} from '../../snapshot/page/json-bytes.ts';
import type { ColumnType } from './column-type.ts';
import { exactInteger } from './exact-integer.ts';

/** What a column holds, as the Parquet writer takes it. Long texts are UTF-8, which shares the memory of its line. */
export type Value = null | boolean | bigint | string | Uint8Array | readonly Value[] | Entry | StructValue;
type Entry = { readonly key: string; readonly value: Value };
type StructValue = { [field: string]: Value };

/** Where a line is read. */
export type Cursor = {
  json: JsonBytes;
  /** The index of the next byte. */
  at: number;
  /** Becomes false when something does not fit; nothing makes it true again. */
  fits: boolean;
};

/**
 * Reads the value at the cursor, moves the cursor behind it, and returns what fits the column: null, and `fits` false,
 * at each place that does not. Throws `SyntaxError` at bytes that are not JSON.
 */
export type ReadValue = (cursor: Cursor) => Value;

/** A text of so many bytes is not decoded. */
export const LONG_TEXT_BYTES = 64 * 1024;

const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
/** So many digits are a safe integer. */
const SAFE_DIGITS = 15;

/** Makes the reader of a type. Throws `TypeError` for a timestamp, which no value is. */
export function readerOf(type: ColumnType): ReadValue {
  switch (type.kind) {
    case 'string':
      return readText;
    case 'bigint':
      return readInteger;
    case 'boolean':
      return readBoolean;
    case 'json':
      return readJson;
    case 'array':
      return arrayReader(readerOf(type.element));
    case 'map':
      return mapReader(readerOf(type.value));
    case 'struct':
      return structReader(type.fields.map(({ name, type: field }) => ({ name, read: readerOf(field) })));
    case 'timestamp':
      throw new TypeError('expected a type that values have, got timestamp, which is made of a bigint');
    default:
      return type satisfies never;
  }
}

/** Makes the reader of a value that is known, by its JSON: it has no column, and any other value does not fit. */
export function readerOfKnown(json: string): ReadValue {
  const known = Buffer.from(json);
  return (cursor) => {
    const { at } = cursor;
    cursor.at = skipDeepValue(cursor.json, at, 0);
    if (!known.equals(cursor.json.bytes.subarray(at, cursor.at))) cursor.fits = false;
    return null;
  };
}

function readJson(cursor: Cursor): Value {
  const { json, at } = cursor;
  cursor.at = skipDeepValue(json, at, 0);
  if (json.bytes[at] === NULL) return null;
  return cursor.at - at < LONG_TEXT_BYTES
    ? json.bytes.toString('utf8', at, cursor.at)
    : json.bytes.subarray(at, cursor.at);
}

/** Skips a value that does not fit, of any depth; null fits everywhere. */
function skipOther(cursor: Cursor): null {
  const { json, at } = cursor;
  if (json.bytes[at] !== NULL) cursor.fits = false;
  cursor.at = skipDeepValue(json, at, 0);
  return null;
}

const NULL = 0x6e;

function readText(cursor: Cursor): Value {
  const { json, at } = cursor;
  const first = json.bytes[at] ?? 0;
  if (first === QUOTE) {
    cursor.at = skipText(json, at);
    const text = textBetween(json.bytes, at + 1, cursor.at - 1);
    if (text === undefined) cursor.fits = false;
    return text ?? null;
  }
  if (!startsNumber(first)) return skipOther(cursor);
  cursor.at = skipValue(json, at, 0);
  return cursor.at - at < LONG_TEXT_BYTES
    ? json.bytes.toString('latin1', at, cursor.at)
    : json.bytes.subarray(at, cursor.at);
}

/** The text of a string without its quotes; undefined if a surrogate in it is alone, which UTF-8 cannot express. */
function textBetween(bytes: Buffer, start: number, end: number): string | Uint8Array | undefined {
  if (end - start >= LONG_TEXT_BYTES) return longText(bytes.subarray(start, end));
  const text = bytes.toString('utf8', start, end);
  if (!text.includes('\\')) return text;
  return wellFormed(JSON.parse(`"${text}"`) as string);
}

function longText(bytes: Buffer): Uint8Array | undefined {
  if (!bytes.includes(BACKSLASH)) return bytes;
  const text = wellFormed(JSON.parse(`"${bytes.toString('utf8')}"`) as string);
  return text === undefined ? undefined : Buffer.from(text);
}

const wellFormed = (text: string): string | undefined => (text.isWellFormed() ? text : undefined);

const startsNumber = (byte: number): boolean => byte === MINUS || isDigit(byte);

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 0x39;

function readInteger(cursor: Cursor): Value {
  const { json, at } = cursor;
  const { bytes } = json;
  let end = bytes[at] === MINUS ? at + 1 : at;
  const first = end;
  let value = 0;
  while (isDigit(bytes[end] ?? 0)) {
    value = value * 10 + (bytes[end] ?? 0) - ZERO;
    end += 1;
  }
  if (end === first) return skipOther(cursor);
  cursor.at = skipValue(json, at, 0);
  if (cursor.at === end && end - first <= SAFE_DIGITS) return BigInt(first === at ? value : -value);
  const exact = exactInteger(bytes.toString('latin1', at, cursor.at));
  if (exact === undefined) cursor.fits = false;
  return exact ?? null;
}

function readBoolean(cursor: Cursor): Value {
  const { json, at } = cursor;
  const first = json.bytes[at];
  if (first !== 0x74 && first !== 0x66) return skipOther(cursor);
  cursor.at = skipValue(json, at, 0);
  return first === 0x74;
}

function arrayReader(read: ReadValue): ReadValue {
  return (cursor) => {
    const { bytes } = cursor.json;
    if (bytes[cursor.at] !== OPEN_ARRAY) return skipOther(cursor);
    const elements: Value[] = [];
    cursor.at = skipSpace(bytes, cursor.at + 1);
    if (bytes[cursor.at] === CLOSE_ARRAY) {
      cursor.at += 1;
      return elements;
    }
    for (;;) {
      elements.push(read(cursor));
      if (!isMore(cursor, CLOSE_ARRAY)) return elements;
    }
  };
}

function mapReader(read: ReadValue): ReadValue {
  return (cursor) => {
    if (cursor.json.bytes[cursor.at] !== OPEN_OBJECT) return skipOther(cursor);
    const entries = new Map<string, Value>();
    for (let isIn = isFilled(cursor); isIn; isIn = isMore(cursor, CLOSE_OBJECT)) {
      const key = readName(cursor);
      const value = read(cursor);
      if (key === undefined || entries.has(key)) cursor.fits = false;
      if (key !== undefined) entries.set(key, value);
    }
    return Array.from(entries, ([key, value]) => ({ key, value }));
  };
}

/** A field of a struct. */
type Field = { readonly name: string; readonly read: ReadValue };

function structReader(fields: readonly Field[]): ReadValue {
  const find = finderOf(fields.map(({ name }) => name));
  const columns = fields.map(({ name }) => name.toLowerCase());
  const nothing: StructValue = Object.fromEntries(columns.map((column) => [column, null]));
  return (cursor) => {
    if (cursor.json.bytes[cursor.at] !== OPEN_OBJECT) return skipOther(cursor);
    const struct = { ...nothing };
    const seen: boolean[] = [];
    let index = -1;
    for (let isIn = isFilled(cursor); isIn; isIn = isMore(cursor, CLOSE_OBJECT)) {
      index = find(cursor, index + 1);
      const field = fields[index];
      const column = columns[index];
      if (field === undefined || column === undefined) {
        cursor.fits = false;
        cursor.at = skipDeepValue(cursor.json, cursor.at, 0);
        continue;
      }
      if (seen[index] === true) cursor.fits = false;
      seen[index] = true;
      struct[column] = field.read(cursor);
    }
    return struct;
  };
}

/** Moves into an object, to its first member; false, behind it, if it has none. */
export function isFilled(cursor: Cursor): boolean {
  const { bytes } = cursor.json;
  cursor.at = skipSpace(bytes, cursor.at + 1);
  if (bytes[cursor.at] !== CLOSE_OBJECT) return true;
  cursor.at += 1;
  return false;
}

/** Moves behind a comma, to what comes next in an array or object; false, behind it, if that was the last. */
export function isMore(cursor: Cursor, close: number): boolean {
  const { bytes } = cursor.json;
  cursor.at = skipSpace(bytes, cursor.at);
  const byte = bytes[cursor.at];
  if (byte !== COMMA && byte !== close) throw unexpected(bytes, cursor.at);
  cursor.at = byte === COMMA ? skipSpace(bytes, cursor.at + 1) : cursor.at + 1;
  return byte === COMMA;
}

/** Reads a member's name, and moves to its value; undefined for one that UTF-8 cannot express. */
function readName(cursor: Cursor): string | undefined {
  const { json, at } = cursor;
  cursor.at = skipName(json, at);
  const end = skipText(json, at);
  const text = json.bytes.toString('utf8', at, end);
  return wellFormed(text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1));
}

/**
 * Makes a function that reads a member's name, moves to its value, and returns which of the names it is; -1 if it is
 * none. Names mostly come in the same order, so `expected` is tried first.
 */
export function finderOf(names: readonly string[]): (cursor: Cursor, expected: number) => number {
  const quoted = names.map((name) => Buffer.from(JSON.stringify(name)));
  const indexes = new Map(names.map((name, index) => [name, index]));
  return (cursor, expected) => {
    const { json, at } = cursor;
    const wanted = quoted[expected];
    if (wanted !== undefined && isAt(wanted, json.bytes, at)) {
      cursor.at = skipName(json, at);
      return expected;
    }
    const name = readName(cursor);
    return name === undefined ? -1 : (indexes.get(name) ?? -1);
  };
}

function isAt(wanted: Buffer, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < wanted.length; index += 1)
    if (bytes[at + index] !== wanted[index]) return false;
  return true;
}
