import { ExactNumber } from '../../base/index.ts';
import {
  addLevels,
  type EncodedValues,
  FIRST_COUNT,
  type Leaf,
  type LeafPlace,
  type Levels,
  MOST_LEVEL,
  noLevels,
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
  createLeaf(place, 'INT64', ({ buffer, byteOffset, byteLength, length }) => ({
    count: length / 2,
    page: new Uint8Array(buffer, byteOffset, byteLength),
  }));

/** A leaf of booleans. */
export const createBooleanLeaf = (place: LeafPlace): NumberLeaf =>
  createLeaf(place, 'BOOLEAN', encodedBooleans);

function createLeaf(
  place: LeafPlace,
  type: 'INT64' | 'BOOLEAN',
  encoded: (numbers: Int32Array<ArrayBuffer>) => EncodedValues,
): NumberLeaf {
  const levels = noLevels();
  const values: Numbers = {
    levels,
    definition: place.definition,
    numbers: new Int32Array(2 * FIRST_COUNT),
    size: 0,
  };
  return {
    ...place,
    type,
    levels,
    values,
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

/** A bit a value, the lowest first. */
function encodedBooleans(values: Int32Array): EncodedValues {
  const count = values.length;
  const page = new Uint8Array(Math.ceil(count / 8));
  for (let index = 0; index < count; index += 1)
    page[index >> 3] = (page[index >> 3] ?? 0) | ((values[index] ?? 0) << (index & 7));
  return { count, page };
}

/** An integer of 64 bits has so many digits at most: 2^63 has 19. */
const MOST_DIGITS = 19;

/** As `ExactNumber` writes a value: without zeros at either end. */
const DECIMAL = /^(-?)(\d+)(?:e(-?\d+))?$/;

/** The value of a JSON number if it is an integer of 64 bits, however it is written (`1.0`, `1e3`); otherwise undefined. */
export function exactInteger(source: string): bigint | undefined {
  const [, sign, digits = '', power = '0'] = DECIMAL.exec(new ExactNumber(source).value) ?? [];
  if (power.startsWith('-') || power.length > 2) return undefined;
  const zeros = Number(power);
  if (digits.length + zeros > MOST_DIGITS) return undefined;
  const value = BigInt(`${digits}${'0'.repeat(zeros)}`) * (sign === '-' ? -1n : 1n);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
