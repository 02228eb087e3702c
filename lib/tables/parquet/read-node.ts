import { ExactNumber } from '../../base/index.ts';
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
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
import { addLevels, addToEach } from './leaf.ts';
import { findName, isNameAt, lengthOf, type Reading, readName } from './names.ts';
import type { FittedNode, MapParts, StructParts } from './nodes.ts';
import { addBoolean, addInteger } from './number-leaves.ts';
import { addSpan, addString, addUtf8 } from './text-leaf.ts';

/** A node of one kind. */
type Node<Kind extends FittedNode['kind']> = Extract<FittedNode, { kind: Kind }>;

/**
 * Writes the value at `at`, in a list or row of level `repetition`, and returns the index behind it. What does not fit is
 * null, and makes `fits` false. Throws `SyntaxError` at bytes that are not JSON.
 */
function readNode(node: FittedNode, reading: Reading, at: number, repetition: number): number {
  switch (node.kind) {
    case 'text':
      return readText(node, reading, at, repetition);
    case 'boolean':
      return readBoolean(node, reading, at, repetition);
    case 'struct':
      if (reading.json.bytes[at] !== OPEN_OBJECT)
        return skipOther(node, reading, at, repetition, node.parts.definition - 1);
      return readObject(node.parts, reading, at, repetition, undefined);
    case 'array':
      return readArray(node, reading, at, repetition);
    case 'map':
      if (reading.json.bytes[at] !== OPEN_OBJECT)
        return skipOther(node, reading, at, repetition, node.parts.place.definition - 1);
      return (reading.isCareful ? readMapCarefully : readMap)(node, reading, at, repetition);
    case 'integer':
      return readInteger(node, reading, at, repetition);
    case 'json':
      return readJson(node, reading, at, repetition);
    case 'known':
      return readKnown(node.parts, reading, at);
    default:
      return node satisfies never;
  }
}

/** The members of a record that were read last, by the positions of their bytes: from a name's quote to a value's end. */
export type Members = {
  count: number;
  readonly starts: number[];
  readonly ends: number[];
  /** True if the member does not fit, has no column, or has the name of another member. */
  readonly isOther: boolean[];
};

const NONE = -1;

/**
 * Writes the members of an object to fields: a struct, or a record, whose members are added to `members`. Of members with the same
 * name the last one has the field: an object that has such members sets `repeats`, and is read again with care, which reads
 * each field's member after all others.
 */
export function readObject(
  parts: StructParts,
  reading: Reading,
  open: number,
  repetition: number,
  members: Members | undefined,
): number {
  const { fields, names, memberOf, valueAt, after } = parts;
  const { json, isCareful, fits: fitBefore } = reading;
  for (let index = 0; index < fields.length; index += 1) memberOf[index] = NONE;
  let count = 0;
  let found = 0;
  let expected = 0;
  let last = NONE;
  let areAllFit = true;
  let at = firstItem(json.bytes, open, CLOSE_OBJECT);
  while (at >= 0) {
    const start = at;
    let index = expected;
    if (isNameAt(names, index, json, at)) at += lengthOf(names, index);
    else {
      index = findName(names, reading, at);
      at = reading.behindName;
    }
    const field = fields[index];
    const earlier = memberOf[index] ?? NONE;
    reading.fits = field !== undefined && earlier === NONE;
    if (earlier !== NONE) {
      reading.repeats = true;
      if (members !== undefined) members.isOther[earlier] = true;
    }
    if (field !== undefined) {
      memberOf[index] = count;
      if (isCareful) valueAt[index] = at;
      if (last !== NONE && after[last] !== index) after[last] = index;
      last = index;
      expected = after[index] ?? 0;
    }
    if (field === undefined || earlier !== NONE) at = skipDeepValue(json, at, 0);
    else {
      found += 1;
      at = isCareful ? skipDeepValue(json, at, 0) : readNode(field, reading, at, repetition);
    }
    if (members !== undefined) record(members, start, at, !reading.fits);
    areAllFit &&= reading.fits;
    count += 1;
    at = nextItem(json.bytes, at, CLOSE_OBJECT);
  }
  reading.fits = areAllFit;
  if (found < fields.length || isCareful) readRest(parts, reading, repetition, members);
  reading.fits &&= fitBefore;
  return ~at;
}

function record(members: Members, start: number, end: number, isOther: boolean): void {
  const { count } = members;
  members.starts[count] = start;
  members.ends[count] = end;
  members.isOther[count] = isOther;
  members.count = count + 1;
}

/** The fields that the members did not write. */
function readRest(
  { fields, definition, memberOf, valueAt }: StructParts,
  reading: Reading,
  repetition: number,
  members: Members | undefined,
): void {
  let areAllFit = reading.fits;
  for (let index = 0; index < fields.length; index += 1) {
    const field = fields[index];
    const member = memberOf[index] ?? NONE;
    if (field === undefined) continue;
    if (member === NONE) addToEach(field.levels, repetition, definition);
    else if (reading.isCareful) {
      reading.fits = true;
      readNode(field, reading, valueAt[index] ?? 0, repetition);
      areAllFit &&= reading.fits;
      if (!reading.fits && members !== undefined) members.isOther[member] = true;
    }
  }
  reading.fits = areAllFit;
}

/** Reads a list of what its element writes. */
function readArray(
  { levels, parts: { element, place } }: Node<'array'>,
  reading: Reading,
  start: number,
  repetition: number,
): number {
  const { bytes } = reading.json;
  const { definition } = place;
  if (bytes[start] !== OPEN_ARRAY) return skipOther({ levels }, reading, start, repetition, definition - 1);
  let at = firstItem(bytes, start, CLOSE_ARRAY);
  if (at < 0) addToEach(levels, repetition, definition);
  let level = repetition;
  while (at >= 0) {
    at = nextItem(bytes, readNode(element, reading, at, level), CLOSE_ARRAY);
    level = place.repetition + 1;
  }
  return ~at;
}

/** Reads a map of texts to what its value writes. */
function readMap({ levels, parts }: Node<'map'>, reading: Reading, open: number, repetition: number): number {
  const { key, value, place } = parts;
  const { json } = reading;
  let count = 0;
  let at = firstItem(json.bytes, open, CLOSE_OBJECT);
  if (at < 0) addToEach(levels, repetition, place.definition);
  while (at >= 0) {
    const end = skipText(json, at);
    const level = count === 0 ? repetition : place.repetition + 1;
    if (mayRepeat(parts, json.bytes, count, at, end)) reading.repeats = true;
    count += 1;
    const valueAt = skipName(json, at);
    addSpan(key, level, json, at + 1, end - 1);
    at = nextItem(json.bytes, readNode(value, reading, valueAt, level), CLOSE_OBJECT);
  }
  return ~at;
}

/** A map with more keys, or with escapes in them, is read with care. */
const MOST_COMPARED = 16;

const BACKSLASH = 0x5c;

/** True unless a key is certainly none of the `count` ones before it. */
function mayRepeat(
  { starts, ends }: MapParts,
  bytes: Buffer,
  count: number,
  start: number,
  end: number,
): boolean {
  if (count >= MOST_COMPARED) return true;
  starts[count] = start;
  ends[count] = end;
  for (let index = 0; index < count; index += 1)
    if (
      end - start === (ends[index] ?? 0) - (starts[index] ?? 0) &&
      bytes.compare(bytes, starts[index], ends[index], start, end) === 0
    )
      return true;
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true;
  return false;
}

/** Of entries with the same key, the first has the place and the last the value. */
function readMapCarefully(
  { levels, parts: { key, value, place } }: Node<'map'>,
  reading: Reading,
  open: number,
  repetition: number,
): number {
  const { json } = reading;
  const places = new Map<string, number>();
  let at = firstItem(json.bytes, open, CLOSE_OBJECT);
  while (at >= 0) {
    const name = readName(reading, at);
    const valueAt = reading.behindName;
    if (name === undefined || places.has(name)) reading.fits = false;
    if (name !== undefined) places.set(name, valueAt);
    at = nextItem(json.bytes, skipDeepValue(json, valueAt, 0), CLOSE_OBJECT);
  }
  if (places.size === 0) addToEach(levels, repetition, place.definition);
  let level = repetition;
  for (const [name, valueAt] of places) {
    addUtf8(key, level, Buffer.from(name));
    readNode(value, reading, valueAt, level);
    level = place.repetition + 1;
  }
  return ~at;
}

/** Reads a text, or a number as its digits. */
function readText(node: Node<'text'>, reading: Reading, at: number, repetition: number): number {
  const { json } = reading;
  const column = node.parts;
  const first = json.bytes[at] ?? 0;
  if (first === QUOTE) {
    const quote = addString(column, repetition, json, at + 1);
    return quote === -1 ? readEscaped(node, reading, at, repetition) : quote + 1;
  }
  if (first !== MINUS && !isDigit(first))
    return skipOther(node, reading, at, repetition, column.definition - 1);
  const end = skipValue(json, at, 0);
  addSpan(column, repetition, json, at, end);
  return end;
}

/** A string with escapes, or with a surrogate that is alone: that does not fit. */
function readEscaped({ parts }: Node<'text'>, reading: Reading, at: number, repetition: number): number {
  const { json } = reading;
  const end = skipText(json, at);
  const text = JSON.parse(json.bytes.toString('utf8', at, end)) as string;
  if (text.isWellFormed()) addUtf8(parts, repetition, Buffer.from(text));
  else {
    reading.fits = false;
    addLevels(parts.levels, repetition, parts.definition - 1);
  }
  return end;
}

/** Reads a value of any kind, as its JSON. */
function readJson(node: Node<'json'>, reading: Reading, at: number, repetition: number): number {
  const { json } = reading;
  if (json.bytes[at] === NULL) return skipOther(node, reading, at, repetition, node.parts.definition - 1);
  const end = skipDeepValue(json, at, 0);
  addSpan(node.parts, repetition, json, at, end);
  return end;
}

const NULL = 0x6e;
const MINUS = 0x2d;
const ZERO = 0x30;
/** The letters of `true`, as one number. */
const TRUE = 0x65757274;
/** So many digits are a safe integer. */
const SAFE_DIGITS = 15;

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 0x39;

function readInteger(node: Node<'integer'>, reading: Reading, at: number, repetition: number): number {
  const { json } = reading;
  const { bytes } = json;
  const values = node.parts;
  const first = bytes[at] === MINUS ? at + 1 : at;
  let digitsEnd = first;
  let value = 0;
  for (let byte = bytes[digitsEnd] ?? 0; isDigit(byte); byte = bytes[digitsEnd] ?? 0) {
    value = value * 10 + byte - ZERO;
    digitsEnd += 1;
  }
  if (digitsEnd === first) return skipOther(node, reading, at, repetition, values.definition - 1);
  const end = skipValue(json, at, 0);
  const isPlain = end === digitsEnd && end - first <= SAFE_DIGITS;
  const plain = first === at ? value : -value;
  const exact = isPlain ? plain : exactInteger(bytes.toString('latin1', at, end));
  if (exact !== undefined) addInteger(values, repetition, exact);
  else {
    reading.fits = false;
    addLevels(values.levels, repetition, values.definition - 1);
  }
  return end;
}

/** An integer of 64 bits has so many digits at most: 2^63 has 19. */
const MOST_DIGITS = 19;

/** As `ExactNumber` writes a value: without zeros at either end. */
const DECIMAL = /^(-?)(\d+)(?:e(-?\d+))?$/;

/** The value of a JSON number if it is an integer of 64 bits, however it is written (`1.0`, `1e3`); otherwise undefined. */
function exactInteger(source: string): bigint | undefined {
  const [, sign, digits = '', power = '0'] = DECIMAL.exec(new ExactNumber(source).value) ?? [];
  if (power.startsWith('-') || power.length > 2) return undefined;
  const zeros = Number(power);
  if (digits.length + zeros > MOST_DIGITS) return undefined;
  const value = BigInt(`${digits}${'0'.repeat(zeros)}`) * (sign === '-' ? -1n : 1n);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function readBoolean(node: Node<'boolean'>, reading: Reading, at: number, repetition: number): number {
  const { json } = reading;
  const first = json.bytes[at];
  if (first !== 0x74 && first !== 0x66)
    return skipOther(node, reading, at, repetition, node.parts.definition - 1);
  const isTrue = at + 4 <= json.bytes.length && json.view.getInt32(at, true) === TRUE;
  const end = isTrue ? at + 4 : skipValue(json, at, 0);
  addBoolean(node.parts, repetition, isTrue);
  return end;
}

function readKnown(known: Buffer, reading: Reading, at: number): number {
  const end = skipDeepValue(reading.json, at, 0);
  if (!known.equals(reading.json.bytes.subarray(at, end))) reading.fits = false;
  return end;
}

/**
 * Writes null for a value that does not fit: of its path, there is as much as `definition` says. Null fits everywhere.
 * Returns the index behind the value, whatever its depth.
 */
function skipOther(
  { levels }: Pick<FittedNode, 'levels'>,
  reading: Reading,
  at: number,
  repetition: number,
  definition: number,
): number {
  if (reading.json.bytes[at] !== NULL) reading.fits = false;
  const end = skipDeepValue(reading.json, at, 0);
  addToEach(levels, repetition, definition);
  return end;
}

/** The index of the first item of the array or object that begins at `open`; if it has none, as `nextItem` says it. */
function firstItem(bytes: Buffer, open: number, close: number): number {
  const at = skipSpace(bytes, open + 1);
  return bytes[at] === close ? ~(at + 1) : at;
}

/**
 * The index of what comes next in an array or object, from behind an item; below 0 if that was the last: the complement
 * (`~`) of the index behind the end.
 */
function nextItem(bytes: Buffer, behind: number, close: number): number {
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
