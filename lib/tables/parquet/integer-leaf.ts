import type { EncodedValues, Leaf, LeafPlace } from './leaf.ts';
import { addLevels, noLevels } from './levels.ts';

/** A leaf of integers of 64 bits. */
export type IntegerLeaf = Leaf & {
  /** Adds an integer: a safe one as a number. */
  add(repetition: number, value: number | bigint): void;
  /** The value at the place that was added last, rounded if it is not a safe integer; undefined if it has none. */
  last(): number | undefined;
};

const FIRST_COUNT = 1_024;
const TWO_32 = 2 ** 32;

export function createIntegerLeaf(place: LeafPlace): IntegerLeaf {
  const levels = noLevels();
  /** The low and the high 32 bits of each, as pages have them. */
  let halves = new Int32Array(2 * FIRST_COUNT);
  let count = 0;
  const mark = { places: 0, count: 0 };

  function makeRoom(): void {
    if (2 * count < halves.length) return;
    const more = new Int32Array(2 * halves.length);
    more.set(halves);
    halves = more;
  }

  return {
    ...place,
    type: 'INT64',
    levels,
    add(repetition, value) {
      addLevels(levels, repetition, place.definition);
      makeRoom();
      // Storing takes the lowest 32 bits of a number, whatever its size.
      halves[2 * count] = typeof value === 'number' ? value : Number(BigInt.asIntN(32, value));
      halves[2 * count + 1] = typeof value === 'number' ? Math.floor(value / TWO_32) : Number(value >> 32n);
      count += 1;
    },
    last() {
      if (levels.definitions[levels.count - 1] !== place.definition) return undefined;
      return (halves[2 * count - 1] ?? 0) * TWO_32 + ((halves[2 * count - 2] ?? 0) >>> 0);
    },
    mark() {
      mark.places = levels.count;
      mark.count = count;
    },
    rollBack() {
      levels.count = mark.places;
      count = mark.count;
    },
    clear() {
      levels.count = 0;
      count = 0;
    },
    encoded: () => encodedIntegers(halves.subarray(0, 2 * count)),
  };
}

function encodedIntegers(halves: Int32Array): EncodedValues {
  const { buffer, byteOffset, byteLength } = halves;
  const page = new Uint8Array(buffer, byteOffset, byteLength);
  if (byteLength === 0) return { page };
  const values = new BigInt64Array(buffer, byteOffset, byteLength / 8);
  let [min, max] = [values[0] ?? 0n, values[0] ?? 0n];
  for (const value of values) {
    if (value < min) min = value;
    else if (value > max) max = value;
  }
  return { page, bounds: { min, max } };
}
