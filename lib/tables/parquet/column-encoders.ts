import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  firstItem,
  type JsonBytes,
  jsonBytesOf,
  nextItem,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipDeepValue,
  skipName,
  skipText,
  skipValue,
} from '../../base/json/index.ts';
import type { parseColumnType } from './hive-type.ts';
import {
  addBoolean,
  addInteger,
  addLevels,
  addSpan,
  addString,
  addToEach,
  addUtf8,
  createBooleanLeaf,
  createIntegerLeaf,
  createTextLeaf,
  exactInteger,
  type Leaf,
  MAX_LEVEL,
  type NumberLeaf,
} from './leaf.ts';
import { findName, isNameAt, lengthOf, namesOf, type Reading, readName, withoutRepeats } from './names.ts';
import { hashOf } from './texts.ts';

type LeafPosition = Parameters<typeof createTextLeaf>[0];

type TextColumn = ReturnType<typeof createTextLeaf>['column'];

type Node<Kind extends ColumnEncoder['kind']> = Extract<ColumnEncoder, { kind: Kind }>;

/**
 * Encodes the value at `at`, and returns the index after it. If the value does not fit, it becomes null, and
 * `matchesSchema` is set to false. Throws `SyntaxError` if it is not JSON.
 */
function encodeValue(node: ColumnEncoder, reading: Reading, at: number, repetition: number): number {
  switch (node.kind) {
    case 'text':
      return readText(node, reading, at, repetition);
    case 'boolean':
      return readBoolean(node, reading, at, repetition);
    case 'struct':
      if (reading.json.bytes[at] !== OPEN_OBJECT) return skipMismatch(node, reading, at, repetition);
      return readObject(node.parts, reading, at, repetition, undefined);
    case 'array':
      return readArray(node, reading, at, repetition);
    case 'map':
      if (reading.json.bytes[at] !== OPEN_OBJECT) return skipMismatch(node, reading, at, repetition);
      return readMap(node, reading, at, repetition);
    case 'integer':
      return readInteger(node, reading, at, repetition);
    case 'json':
      return readJson(node, reading, at, repetition);
    default:
      return node satisfies never;
  }
}

const NONE = -1;

/**
 * Encodes an object. If a name is repeated, the first member is encoded, and `repeats` is set, so that the caller can
 * read the line again with `onlyLast`. `overflow`: receives, for each member that does not fit, the index of its name's
 * opening quote and the index after its value.
 */
export function readObject(
  { fields, names, definition, isPresent, after }: StructParts,
  reading: Reading,
  open: number,
  repetition: number,
  overflow: number[] | undefined,
): number {
  const { json, matchesSchema: matchedBefore } = reading;
  for (let index = 0; index < fields.length; index += 1) isPresent[index] = 0;
  let found = 0;
  let expected = 0;
  let last = NONE;
  let allMatch = true;
  let at = firstItem(json.bytes, open, CLOSE_OBJECT);
  while (at >= 0) {
    const start = at;
    let index = expected;
    if (isNameAt(names, index, json, at)) at += lengthOf(names, index);
    else {
      index = findName(names, reading, at);
      at = reading.afterName;
    }
    const field = fields[index];
    if (field === undefined || isPresent[index] === 1) {
      reading.repeats ||= field !== undefined;
      reading.matchesSchema = false;
      at = skipDeepValue(json, at, 0);
    } else {
      reading.matchesSchema = true;
      isPresent[index] = 1;
      found += 1;
      if (last !== NONE && after[last] !== index) after[last] = index;
      last = index;
      expected = after[index] ?? 0;
      at = encodeValue(field, reading, at, repetition);
    }
    if (overflow !== undefined && !reading.matchesSchema) overflow.push(start, at);
    allMatch &&= reading.matchesSchema;
    at = nextItem(json.bytes, at, CLOSE_OBJECT);
  }
  reading.matchesSchema = allMatch && matchedBefore;
  if (found < fields.length)
    for (let index = 0; index < fields.length; index += 1)
      if (isPresent[index] === 0) addToEach(fields[index]?.levels ?? [], repetition, definition);
  return ~at;
}

function readArray(node: Node<'array'>, reading: Reading, start: number, repetition: number): number {
  const { bytes } = reading.json;
  if (bytes[start] !== OPEN_ARRAY) return skipMismatch(node, reading, start, repetition);
  const { element } = node.parts;
  let at = firstItem(bytes, start, CLOSE_ARRAY);
  if (at < 0) addToEach(node.levels, repetition, node.definition);
  let level = repetition;
  while (at >= 0) {
    at = nextItem(bytes, encodeValue(element, reading, at, level), CLOSE_ARRAY);
    level = node.repetition + 1;
  }
  return ~at;
}

/**
 * Encodes a map from strings to values. Keys with lone surrogates, and repeated keys, do not match the schema. Repeated
 * keys are recognized by their hashes, so of two keys with equal hashes (one in four billion) only the first is
 * encoded.
 */
function readMap(node: Node<'map'>, reading: Reading, open: number, repetition: number): number {
  const { key, value, hashes } = node.parts;
  const { json } = reading;
  hashes.clear();
  let count = 0;
  let at = firstItem(json.bytes, open, CLOSE_OBJECT);
  for (; at >= 0; at = nextItem(json.bytes, at, CLOSE_OBJECT)) {
    const end = skipText(json, at) - 1;
    const valueAt = skipName(json, at);
    const name = hasEscape(json.bytes, at, end) ? escapedName(reading, at) : json;
    const [from, to] = name === json ? [at + 1, end] : [0, name?.bytes.length ?? 0];
    const hash = name === undefined ? undefined : hashOf(name, from, to);
    if (name === undefined || hash === undefined || hashes.has(hash)) {
      reading.repeats ||= name !== undefined;
      reading.matchesSchema = false;
      at = skipDeepValue(json, valueAt, 0);
      continue;
    }
    hashes.add(hash);
    const level = count === 0 ? repetition : node.repetition + 1;
    count += 1;
    addSpan(key, level, name, from, to, hash);
    at = encodeValue(value, reading, valueAt, level);
  }
  if (count === 0) addToEach(node.levels, repetition, node.definition);
  return ~at;
}

/** Decodes a name with escapes; undefined if it has a lone surrogate. */
function escapedName(reading: Reading, at: number): JsonBytes | undefined {
  const name = readName(reading, at);
  return name === undefined ? undefined : jsonBytesOf(Buffer.from(name));
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true;
  return false;
}

const BACKSLASH = 0x5c;

function readText(node: Node<'text'>, reading: Reading, at: number, repetition: number): number {
  const { json } = reading;
  const first = json.bytes[at] ?? 0;
  if (first === QUOTE) return readString(node.parts, reading, at, repetition);
  if (first !== MINUS && !isDigit(first)) return skipMismatch(node, reading, at, repetition);
  const end = skipValue(json, at, 0);
  addSpan(node.parts, repetition, json, at, end);
  return end;
}

/** Encodes a string. A lone surrogate, which UTF-8 cannot express, does not fit, and becomes `?`, as in Athena. */
function readString(parts: TextColumn, reading: Reading, at: number, repetition: number): number {
  const { json } = reading;
  const quote = addString(parts, repetition, json, at + 1);
  if (quote !== -1) return quote + 1;
  const end = skipText(json, at);
  const value = JSON.parse(json.bytes.toString('utf8', at, end)) as string;
  const isWellFormed = value.isWellFormed();
  reading.matchesSchema &&= isWellFormed;
  addUtf8(parts, repetition, Buffer.from(isWellFormed ? value : value.replaceAll(/\p{Surrogate}/gu, '?')));
  return end;
}

/**
 * Encodes a string unchanged, and any other value as its JSON with the same bytes. Two things change: a lone surrogate
 * becomes `?`, and if a name is repeated, only the last member stays.
 */
function readJson(node: Node<'json'>, reading: Reading, at: number, repetition: number): number {
  const { json } = reading;
  if (json.bytes[at] === QUOTE) return readString(node.parts, reading, at, repetition);
  if (json.bytes[at] === NULL) return skipMismatch(node, reading, at, repetition);
  const end = skipDeepValue(json, at, 0);
  const last = withoutRepeats(json, at);
  const whole = replaceLoneSurrogates(last ?? json.bytes.subarray(at, end));
  reading.matchesSchema &&= whole === undefined;
  const changed = whole === undefined ? last : Buffer.from(whole);
  if (changed === undefined) addSpan(node.parts, repetition, json, at, end);
  else addUtf8(node.parts, repetition, changed);
  return end;
}

/** JSON in which each lone surrogate is replaced by `?`; undefined if there is no lone surrogate. */
function replaceLoneSurrogates(json: Buffer): string | undefined {
  // Most JSON has no escapes. If it has, searching is fastest in a string with one byte per character.
  if (!json.includes(BACKSLASH) || !SURROGATE.test(json.toString('latin1'))) return undefined;
  const text = json.toString();
  const whole = text.replaceAll(ESCAPE, (escaped, half) => (half === undefined ? escaped : '?'));
  return whole === text ? undefined : whole;
}

const SURROGATE = /\\u[dD][89a-fA-F]/;
/** Matches a surrogate pair, a lone surrogate, or any other escape. */
const ESCAPE = /\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)/g;

const NULL = 0x6e;
const MINUS = 0x2d;
const ZERO = 0x30;
/** The letters of `true`, and the last four of `false`, as one number each. */
const TRUE = 0x65757274;
const ALSE = 0x65736c61;
/** An integer of at most this many digits is certainly safe. */
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
  if (digitsEnd === first) return skipMismatch(node, reading, at, repetition);
  const end = skipValue(json, at, 0);
  const isPlain = end === digitsEnd && end - first <= SAFE_DIGITS;
  const plain = first === at ? value : -value;
  const exact = isPlain ? plain : exactInteger(bytes.toString('latin1', at, end));
  if (exact !== undefined) addInteger(values, repetition, exact);
  else {
    reading.matchesSchema = false;
    addLevels(values.levels, repetition, values.definition - 1);
  }
  return end;
}

function readBoolean(node: Node<'boolean'>, reading: Reading, at: number, repetition: number): number {
  const { json } = reading;
  const first = json.bytes[at];
  if (first !== 0x74 && first !== 0x66) return skipMismatch(node, reading, at, repetition);
  const isTrue = first === 0x74;
  const letters = isTrue ? at : at + 1;
  const isWhole =
    letters + 4 <= json.bytes.length && json.view.getInt32(letters, true) === (isTrue ? TRUE : ALSE);
  const end = isWhole ? letters + 4 : skipValue(json, at, 0);
  addBoolean(node.parts, repetition, isTrue);
  return end;
}

/** Encodes null instead of a value that does not fit, and returns the index after the value. The value may be nested to any depth. */
function skipMismatch(
  { levels, definition }: Pick<ColumnEncoder, 'levels' | 'definition'>,
  reading: Reading,
  at: number,
  repetition: number,
): number {
  if (reading.json.bytes[at] !== NULL) reading.matchesSchema = false;
  const end = skipDeepValue(reading.json, at, 0);
  addToEach(levels, repetition, definition - 1);
  return end;
}

/**
 * Describes, as a tree, how to encode one column. The functions that use it are at the top of the module, where the
 * engine compiles them best.
 */
type ColumnEncoder =
  | NodeOf<'text', TextColumn>
  /** Strings unchanged, and any other values as JSON. */
  | NodeOf<'json', TextColumn>
  | NodeOf<'integer', NumberLeaf['values']>
  | NodeOf<'boolean', NumberLeaf['values']>
  | NodeOf<'array', { readonly element: ColumnEncoder }>
  | NodeOf<
      'map',
      {
        readonly key: TextColumn;
        readonly value: ColumnEncoder;
        /** The hashes of the keys of the current map. */
        readonly hashes: Set<number>;
      }
    >
  | NodeOf<'struct', StructParts>;

type NodeOf<Kind, Parts> = {
  readonly kind: Kind;
  /** The levels of its leaf columns; each leaf gets one entry for each value. */
  readonly levels: readonly Leaf['levels'][];
  /** The definition level of a value that exists. `repetition`: the number of lists in its path. */
  readonly definition: number;
  readonly repetition: number;
  readonly parts: Parts;
};

type StructParts = {
  readonly fields: readonly ColumnEncoder[];
  readonly names: ReturnType<typeof namesOf>;
  /** The definition level to write for a missing field. */
  readonly definition: number;
  /** For each field, 1 if the current object has had it so far. */
  readonly isPresent: Uint8Array;
  /**
   * For each field, the field that most recently followed it. A platform sends the members of most objects in the same
   * order.
   */
  readonly after: number[];
};

/**
 * Creates the encoder of a type, and adds its leaves to `leaves`. Throws `TypeError` if the type is nested too deeply.
 */
export function createEncoder(
  type: ReturnType<typeof parseColumnType>,
  position: LeafPosition,
  leaves: Leaf[],
): ColumnEncoder {
  const here = { ...position, definition: position.definition + 1 };
  if (here.definition > MAX_LEVEL)
    throw new TypeError(`the type of a column is nested too deeply: expected at most ${MAX_LEVEL} levels`);
  const { definition, repetition } = here;
  const added = <L extends Leaf>(leaf: L): L => {
    leaves.push(leaf);
    return leaf;
  };
  switch (type.kind) {
    case 'string':
    case 'json': {
      const { column } = added(createTextLeaf(here));
      const kind = type.kind === 'json' ? 'json' : 'text';
      return { kind, levels: [column.levels], definition, repetition, parts: column };
    }
    case 'bigint':
    case 'timestamp': {
      const { values } = added(createIntegerLeaf(here));
      return { kind: 'integer', levels: [values.levels], definition, repetition, parts: values };
    }
    case 'boolean': {
      const { values } = added(createBooleanLeaf(here));
      return { kind: 'boolean', levels: [values.levels], definition, repetition, parts: values };
    }
    case 'array': {
      const element = createEncoder(type.element, inList(here, ['list', 'element']), leaves);
      return { kind: 'array', levels: element.levels, definition, repetition, parts: { element } };
    }
    case 'map': {
      const { column: key } = added(createTextLeaf(inList(here, ['key_value', 'key'])));
      const value = createEncoder(type.value, inList(here, ['key_value', 'value']), leaves);
      const parts = { key, value, hashes: new Set<number>() };
      return { kind: 'map', levels: [key.levels, ...value.levels], definition, repetition, parts };
    }
    case 'struct': {
      const fields = type.fields.map((field) => ({
        name: field.name,
        node: createEncoder(field.type, { ...here, path: [...here.path, field.name.toLowerCase()] }, leaves),
      }));
      const levels = fields.flatMap(({ node }) => node.levels);
      return { kind: 'struct', levels, definition, repetition, parts: structOf(fields, definition) };
    }
    default:
      return type satisfies never;
  }
}

type NamedEncoder = { readonly name: string; readonly node: ColumnEncoder };

/** The parts of a struct with these fields. `definition`: the definition level of the struct itself. */
export const structOf = (fields: readonly NamedEncoder[], definition: number): StructParts => ({
  fields: fields.map(({ node }) => node),
  names: namesOf(fields.map(({ name }) => name)),
  definition,
  isPresent: new Uint8Array(fields.length),
  after: fields.map((_, index) => index + 1),
});

/** The position in the schema of the entries of a list or map. */
const inList = ({ path, definition, repetition }: LeafPosition, names: readonly string[]): LeafPosition => ({
  path: [...path, ...names],
  definition: definition + 1,
  repetition: repetition + 1,
});
