import { addLevels, type Levels, noLevels, takeBack } from './levels.ts';

/** The values of a leaf that take as many numbers each, and their places. */
export type SizedValues<Numbers extends Uint8Array | Int32Array> = {
  readonly levels: Levels;
  /** The level of a value. */
  readonly definition: number;
  /** The numbers of all values, and room behind them. */
  numbers: Numbers;
  /** How many of the numbers are those of a value. */
  size: number;
};

const FIRST_SIZE = 2_048;

export const noValues = <Numbers extends Uint8Array | Int32Array>(
  create: (length: number) => Numbers,
  definition: number,
): SizedValues<Numbers> => ({ levels: noLevels(), definition, numbers: create(FIRST_SIZE), size: 0 });

/** Adds a place with a value. Returns where its `width` numbers go. */
export function placeValue<Numbers extends Uint8Array | Int32Array>(
  values: SizedValues<Numbers>,
  create: (length: number) => Numbers,
  repetition: number,
  width: number,
): number {
  const { levels, definition, numbers, size } = values;
  addLevels(levels, repetition, definition);
  if (size === numbers.length) {
    const more = create(2 * size);
    more.set(numbers);
    values.numbers = more;
  }
  values.size = size + width;
  return size;
}

/** How a leaf of such values, of `width` numbers each, forgets them. */
export const forgetting = (values: SizedValues<Uint8Array | Int32Array>, width: number) => ({
  rollBack(places: number): void {
    values.size -= width * takeBack(values.levels, places, values.definition);
  },
  clear(): void {
    values.levels.count = 0;
    values.size = 0;
  },
});
