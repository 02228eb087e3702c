import type { EncodedValues, Leaf, LeafPlace } from './leaf.ts';
import { addLevels, noLevels } from './levels.ts';

/** A leaf of booleans. */
export type BooleanLeaf = Leaf & { add(repetition: number, value: boolean): void };

const FIRST_COUNT = 1_024;

export function createBooleanLeaf(place: LeafPlace): BooleanLeaf {
  const levels = noLevels();
  /** A byte a value. */
  let values = new Uint8Array(FIRST_COUNT);
  let count = 0;
  const mark = { places: 0, count: 0 };
  return {
    ...place,
    type: 'BOOLEAN',
    levels,
    add(repetition, value) {
      addLevels(levels, repetition, place.definition);
      if (count === values.length) {
        const more = new Uint8Array(2 * count);
        more.set(values);
        values = more;
      }
      values[count] = value ? 1 : 0;
      count += 1;
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
    encoded: () => encodedBooleans(values.subarray(0, count)),
  };
}

/** A bit a value, the lowest first. */
function encodedBooleans(values: Uint8Array): EncodedValues {
  const page = new Uint8Array(Math.ceil(values.length / 8));
  for (let index = 0; index < values.length; index += 1)
    page[index >> 3] = (page[index >> 3] ?? 0) | ((values[index] ?? 0) << (index & 7));
  if (values.length === 0) return { page };
  return { page, bounds: { min: !values.includes(0), max: values.includes(1) } };
}
