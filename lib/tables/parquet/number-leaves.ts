import {
  addLevels,
  type EncodedValues,
  FIRST_COUNT,
  type Leaf,
  type LeafPlace,
  type Levels,
  MOST_LEVEL,
  noLevels,
  takeBack,
  withRoom,
} from './leaf.ts';

/** The values of a leaf, and their places: of an integer the low and the high 32 bits, of a boolean 0 or 1. */
export type Numbers = {
  readonly levels: Levels;
  /** The level of a value. */
  readonly definition: number;
  /** The numbers of all values, and room behind them. */
  numbers: Int32Array<ArrayBuffer>;
  /** How many of the numbers are those of a value. */
  size: number;
};

export type NumberLeaf = Leaf & { readonly values: Numbers };

const TWO_32 = 2 ** 32;

/** A leaf of integers of 64 bits. */
export const createIntegerLeaf = (place: LeafPlace): NumberLeaf =>
  createLeaf(place, { type: 'INT64', width: 2, encoded: encodedIntegers });

/** A leaf of booleans. */
export const createBooleanLeaf = (place: LeafPlace): NumberLeaf =>
  createLeaf(place, { type: 'BOOLEAN', width: 1, encoded: encodedBooleans });

type Kind = {
  readonly type: 'INT64' | 'BOOLEAN';
  /** The numbers of a value. */
  readonly width: number;
  readonly encoded: (numbers: Int32Array) => EncodedValues;
};

function createLeaf(place: LeafPlace, { type, width, encoded }: Kind): NumberLeaf {
  const { definition } = place;
  const levels = noLevels();
  const values: Numbers = { levels, definition, numbers: new Int32Array(2 * FIRST_COUNT), size: 0 };
  return {
    ...place,
    type,
    levels,
    values,
    rollBack(places) {
      values.size -= width * takeBack(levels, places, definition);
    },
    clear() {
      levels.count = 0;
      values.size = 0;
    },
    encoded: () => encoded(values.numbers.subarray(0, values.size)),
  };
}

/** Adds an integer: a safe one as a number. */
export function addInteger(values: Numbers, repetition: number, value: number | bigint): void {
  const at = roomFor(values, repetition);
  const { numbers } = values;
  // Storing takes the lowest 32 bits of a number, whatever its size.
  numbers[at] = typeof value === 'number' ? value : Number(BigInt.asIntN(32, value));
  numbers[at + 1] = typeof value === 'number' ? Math.floor(value / TWO_32) : Number(value >> 32n);
  values.size = at + 2;
}

export function addBoolean(values: Numbers, repetition: number, value: boolean): void {
  const at = roomFor(values, repetition);
  values.numbers[at] = value ? 1 : 0;
  values.size = at + 1;
}

/** Adds a place with a value. Returns where its numbers go, of which there is an even number. */
function roomFor(values: Numbers, repetition: number): number {
  addLevels(values.levels, repetition, values.definition);
  if (values.size === values.numbers.length) values.numbers = withRoom(values.numbers);
  return values.size;
}

/** The integer at the place that was added last, rounded if it is not a safe one; undefined if it has none. */
export function lastInteger({ levels, definition, numbers, size }: Numbers): number | undefined {
  if (((levels.places[levels.count - 1] ?? 0) & MOST_LEVEL) !== definition) return undefined;
  return (numbers[size - 1] ?? 0) * TWO_32 + ((numbers[size - 2] ?? 0) >>> 0);
}

function encodedIntegers(halves: Int32Array): EncodedValues {
  const { buffer, byteOffset, byteLength } = halves;
  const page = new Uint8Array(buffer, byteOffset, byteLength);
  const count = halves.length / 2;
  if (count === 0) return { count, page };
  let [min, max] = [0, 0];
  for (let index = 1; index < count; index += 1) {
    if (isBelow(halves, index, min)) min = index;
    else if (isBelow(halves, max, index)) max = index;
  }
  const values = new BigInt64Array(buffer, byteOffset, count);
  return { count, page, bounds: { min: values[min] ?? 0n, max: values[max] ?? 0n } };
}

function isBelow(halves: Int32Array, index: number, other: number): boolean {
  const high = halves[2 * index + 1] ?? 0;
  const otherHigh = halves[2 * other + 1] ?? 0;
  if (high !== otherHigh) return high < otherHigh;
  return (halves[2 * index] ?? 0) >>> 0 < (halves[2 * other] ?? 0) >>> 0;
}

/** A bit a value, the lowest first. */
function encodedBooleans(values: Int32Array): EncodedValues {
  const count = values.length;
  const page = new Uint8Array(Math.ceil(count / 8));
  for (let index = 0; index < count; index += 1)
    page[index >> 3] = (page[index >> 3] ?? 0) | ((values[index] ?? 0) << (index & 7));
  if (count === 0) return { count, page };
  return { count, page, bounds: { min: !values.includes(0), max: values.includes(1) } };
}
