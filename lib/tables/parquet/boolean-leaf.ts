import type { EncodedValues, Leaf, LeafPlace } from './leaf.ts';
import { forgetting, noValues, placeValue, type SizedValues } from './sized-values.ts';

/** A byte a value: 0 or 1. */
export type Booleans = SizedValues<Uint8Array>;

const bytesOf = (length: number): Uint8Array => new Uint8Array(length);

/** A leaf of booleans. */
export function createBooleanLeaf(place: LeafPlace): Leaf & { readonly values: Booleans } {
  const values = noValues(bytesOf, place.definition);
  return {
    ...place,
    ...forgetting(values, 1),
    type: 'BOOLEAN',
    levels: values.levels,
    values,
    encoded: () => encodedBooleans(values.numbers.subarray(0, values.size)),
  };
}

export function addBoolean(values: Booleans, repetition: number, value: boolean): void {
  const at = placeValue(values, bytesOf, repetition, 1);
  values.numbers[at] = value ? 1 : 0;
}

/** A bit a value, the lowest first. */
function encodedBooleans(values: Uint8Array): EncodedValues {
  const count = values.length;
  const page = new Uint8Array(Math.ceil(count / 8));
  for (let index = 0; index < count; index += 1)
    page[index >> 3] = (page[index >> 3] ?? 0) | ((values[index] ?? 0) << (index & 7));
  if (count === 0) return { count, page };
  return { count, page, bounds: { min: !values.includes(0), max: values.includes(1) } };
}
