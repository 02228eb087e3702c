import type { EncodedValues, Leaf, LeafPlace } from './leaf.ts';
import { endsInValue } from './levels.ts';
import { forgetting, noValues, placeValue, type SizedValues } from './sized-values.ts';

/** The low and the high 32 bits of each value, as pages have them. */
export type Integers = SizedValues<Int32Array>;

/** A leaf of integers of 64 bits. */
export type IntegerLeaf = Leaf & { readonly values: Integers };

const TWO_32 = 2 ** 32;

const halvesOf = (length: number): Int32Array => new Int32Array(length);

export function createIntegerLeaf(place: LeafPlace): IntegerLeaf {
  const values = noValues(halvesOf, place.definition);
  return {
    ...place,
    ...forgetting(values, 2),
    type: 'INT64',
    levels: values.levels,
    values,
    encoded: () => encodedIntegers(values.numbers.subarray(0, values.size)),
  };
}

/** Adds an integer: a safe one as a number. */
export function addInteger(values: Integers, repetition: number, value: number | bigint): void {
  const at = placeValue(values, halvesOf, repetition, 2);
  const { numbers } = values;
  // Storing takes the lowest 32 bits of a number, whatever its size.
  numbers[at] = typeof value === 'number' ? value : Number(BigInt.asIntN(32, value));
  numbers[at + 1] = typeof value === 'number' ? Math.floor(value / TWO_32) : Number(value >> 32n);
}

/** The value at the place that was added last, rounded if it is not a safe integer; undefined if it has none. */
export function lastInteger({ levels, definition, numbers, size }: Integers): number | undefined {
  if (!endsInValue(levels, definition)) return undefined;
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
