import type { ByteWriter } from 'hyparquet-writer';
import { canonicalExact, type JsonBytes, jsonBytesOf, parseExact } from '../../base/json/index.ts';
import { writeNumbers } from './pages.ts';
import {
  addQuoted,
  addText,
  addWaiting,
  clearTexts,
  createTexts,
  FIRST_COUNT,
  hashOf,
  plainAt,
  type Texts,
  withRoom,
} from './texts.ts';

/** The position of a leaf column in the schema. `definition`, `repetition`: its maximum levels. */
type LeafPosition = {
  readonly path: readonly string[];
  readonly definition: number;
  readonly repetition: number;
};

/** A leaf column of a row group: its values, and an entry of levels for each value or null. */
export type Leaf = LeafPosition & {
  readonly type: 'BYTE_ARRAY' | 'INT64' | 'BOOLEAN';
  readonly levels: Levels;
  clear(): void;
  /** Removes the last row. */
  dropRow(): void;
  /**
   * The values in Parquet's encoding, as views that are valid until the next value is added. They lie in
   * the leaf's own memory or in `memory`, which must be empty.
   */
  encoded(memory: ByteWriter): EncodedValues;
};

/** The values of a leaf, without its levels. */
type EncodedValues = {
  readonly count: number;
  /** All values as one page. */
  readonly page: Uint8Array;
  /** The distinct values as a page; then `page` has indexes into it. Default: `page` has the values themselves. */
  readonly dictionary?: { readonly page: Uint8Array; readonly count: number } | undefined;
};

/** The levels of a leaf column, as Parquet defines them (Dremel). */
type Levels = {
  /**
   * One byte for each value or null. The upper half is the repetition level: the depth of the list that the entry
   * continues; 0 begins a row. The lower half is the definition level: how much of the path exists; at the leaf's
   * maximum, there is a value.
   */
  entries: Uint8Array<ArrayBuffer>;
  count: number;
};

/** The maximum of each level, which has four bits of an entry. */
export const MAX_LEVEL = 15;

/** The number of bits by which each level is shifted within an entry (`Levels.entries`). */
export const SHIFTS = { repetition: 4, definition: 0 } as const;

const createLevels = (): Levels => ({ entries: new Uint8Array(FIRST_COUNT), count: 0 });

/** Adds an entry with these levels. */
export function addLevels(levels: Levels, repetition: number, definition: number): void {
  const { count } = levels;
  if (count === levels.entries.length)
    levels.entries = new Uint8Array(levels.entries.buffer.transfer(2 * count));
  levels.entries[count] = (repetition << SHIFTS.repetition) | definition;
  levels.count = count + 1;
}

/** Removes the entries of the last row. Returns how many of them have a value. */
function dropEntries(levels: Levels, definition: number): number {
  let values = 0;
  for (let isFirst = false; !isFirst && levels.count > 0; ) {
    levels.count -= 1;
    const entry = levels.entries[levels.count] ?? 0;
    if ((entry & MAX_LEVEL) === definition) values += 1;
    isFirst = entry >> SHIFTS.repetition === 0;
  }
  return values;
}

/** How many bits a number up to `max` takes. */
export const bitsOf = (max: number): number => 32 - Math.clz32(max);

/** Adds an entry with the same levels to several leaves. */
export function addToEach(leaves: readonly Levels[], repetition: number, definition: number): void {
  for (const levels of leaves) addLevels(levels, repetition, definition);
}

/**
 * The values of a leaf as numbers, and their levels. An integer takes two numbers, its low and its high 32 bits; a
 * boolean takes one, 0 or 1.
 */
type Numbers = {
  readonly levels: Levels;
  readonly definition: number;
  /** The numbers of all values, followed by spare room. */
  numbers: Int32Array<ArrayBuffer>;
  /** How many of the numbers are in use. */
  size: number;
};

/** A leaf of integers or booleans. */
export type NumberLeaf = Leaf & { readonly values: Numbers };

const TWO_32 = 2 ** 32;

/** Creates a leaf of 64-bit integers. */
export const createIntegerLeaf = (position: LeafPosition): NumberLeaf =>
  createLeaf(position, 'INT64', ({ buffer, byteOffset, byteLength, length }) => ({
    count: length / 2,
    page: new Uint8Array(buffer, byteOffset, byteLength),
  }));

/** Creates a leaf of booleans, which the page packs to one bit each. */
export const createBooleanLeaf = (position: LeafPosition): NumberLeaf =>
  createLeaf(position, 'BOOLEAN', encodedBooleans);

function createLeaf(
  position: LeafPosition,
  type: 'INT64' | 'BOOLEAN',
  encoded: (numbers: Int32Array<ArrayBuffer>) => EncodedValues,
): NumberLeaf {
  const levels = createLevels();
  const values: Numbers = {
    levels,
    definition: position.definition,
    numbers: new Int32Array(2 * FIRST_COUNT),
    size: 0,
  };
  return {
    ...position,
    type,
    levels,
    values,
    clear() {
      levels.count = 0;
      values.size = 0;
    },
    dropRow() {
      values.size -= dropEntries(levels, position.definition) * (type === 'INT64' ? 2 : 1);
    },
    encoded: () => encoded(values.numbers.subarray(0, values.size)),
  };
}

/** Adds an integer. `value`: a number if it is a safe integer, otherwise a bigint. */
export function addInteger(values: Numbers, repetition: number, value: number | bigint): void {
  const at = roomFor(values, repetition);
  const { numbers } = values;
  // Storing takes the lowest 32 bits of a number of any size.
  numbers[at] = typeof value === 'number' ? value : Number(BigInt.asIntN(32, value));
  numbers[at + 1] = typeof value === 'number' ? Math.floor(value / TWO_32) : Number(value >> 32n);
  values.size = at + 2;
}

/** Adds an entry with a boolean. */
export function addBoolean(values: Numbers, repetition: number, value: boolean): void {
  const at = roomFor(values, repetition);
  values.numbers[at] = value ? 1 : 0;
  values.size = at + 1;
}

/**
 * Adds the levels of a value, and makes room for its numbers: the length of the array is even, so there is room for
 * two. Returns the index for them.
 */
function roomFor(values: Numbers, repetition: number): number {
  addLevels(values.levels, repetition, values.definition);
  if (values.size === values.numbers.length) values.numbers = withRoom(values.numbers);
  return values.size;
}

/** The integer of the last entry, rounded unless it is a safe integer; undefined if the entry has no value. */
export function lastInteger({ levels, definition, numbers, size }: Numbers): number | undefined {
  if (((levels.entries[levels.count - 1] ?? 0) & MAX_LEVEL) !== definition) return undefined;
  return (numbers[size - 1] ?? 0) * TWO_32 + ((numbers[size - 2] ?? 0) >>> 0);
}

/** Encodes booleans as one bit each, the lowest bit first. */
function encodedBooleans(values: Int32Array): EncodedValues {
  const count = values.length;
  const page = new Uint8Array(Math.ceil(count / 8));
  for (let index = 0; index < count; index += 1)
    page[index >> 3] = (page[index >> 3] ?? 0) | ((values[index] ?? 0) << (index & 7));
  return { count, page };
}

/** Maximum digits of a number that may be a 64-bit integer. */
const MAX_DIGITS = 20;

/** The value of a JSON number if it is a 64-bit integer, in any notation; otherwise undefined. */
export function exactInteger(source: string): bigint | undefined {
  // The canonical form: the digits without zeros at either end, and the number of zeros that follow them. A fraction
  // does not match.
  const [, digits = '', zeros = '0'] = /^(-?\d+)(?:e(\d+))?$/.exec(canonicalExact(parseExact(source))) ?? [];
  if (digits === '' || digits.length + Number(zeros) > MAX_DIGITS) return undefined;
  const value = BigInt(`${digits}${'0'.repeat(Number(zeros))}`);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

type TextColumn = {
  readonly levels: Levels;
  readonly definition: number;
  readonly texts: Texts;
};

/** Removes the last texts. None of them may be waiting. */
function dropTexts(texts: Texts, dropped: number): void {
  for (let left = dropped; left > 0; left -= 1) {
    texts.count -= 1;
    texts.plainBytes -= plainAt(texts, texts.indexes[texts.count] ?? 0).length;
    texts.hasDropped = true;
  }
}

/** Creates a leaf of strings. */
export function createTextLeaf(position: LeafPosition): Leaf & { readonly column: TextColumn } {
  const levels = createLevels();
  const texts = createTexts();
  return {
    ...position,
    type: 'BYTE_ARRAY',
    levels,
    column: { levels, definition: position.definition, texts },
    clear() {
      levels.count = 0;
      clearTexts(texts);
    },
    dropRow() {
      addWaiting(texts);
      dropTexts(texts, dropEntries(levels, position.definition));
    },
    encoded: (memory) => encodedTexts(texts, memory),
  };
}

/** Adds the UTF-8 string from `start` up to, but not including, `end`. */
export function addSpan(
  { levels, definition, texts }: TextColumn,
  repetition: number,
  source: JsonBytes,
  start: number,
  end: number,
  hash = hashOf(source, start, end),
): void {
  addLevels(levels, repetition, definition);
  addWaiting(texts);
  addText(texts, source, start, end, hash);
}

/** Adds a string in UTF-8. */
export const addUtf8 = (column: TextColumn, repetition: number, text: Buffer): void =>
  addSpan(column, repetition, jsonBytesOf(text), 0, text.length);

/** Adds the JSON string that begins at `start`, after its quote, with the same result as `addQuoted`. */
export function addString(
  { levels, definition, texts }: TextColumn,
  repetition: number,
  source: JsonBytes,
  start: number,
): number {
  const end = addQuoted(texts, source, start);
  if (end !== -1) addLevels(levels, repetition, definition);
  return end;
}

/** Encodes texts with a dictionary, if that takes fewer bytes. */
function encodedTexts(texts: Texts, memory: ByteWriter): EncodedValues {
  const { bytes, sizeBytes, distinct, count, plainBytes, hasDropped } = texts;
  const bits = bitsOf(Math.max(distinct, 1) - 1);
  if (sizeBytes + (count * bits) / 8 <= plainBytes)
    return {
      count,
      page: indexPage(texts, bits, memory),
      dictionary: { page: bytes.subarray(0, sizeBytes), count: distinct },
    };
  if (distinct === count && !hasDropped) return { count, page: bytes.subarray(0, sizeBytes) };
  memory.ensure(plainBytes);
  for (let index = 0; index < count; index += 1)
    memory.appendBytes(plainAt(texts, texts.indexes[index] ?? 0));
  return { count, page: memory.getBytes() };
}

function indexPage({ indexes, count }: Texts, bits: number, memory: ByteWriter): Uint8Array {
  memory.appendUint8(bits);
  writeNumbers(memory, indexes.subarray(0, count), bits);
  return memory.getBytes();
}
