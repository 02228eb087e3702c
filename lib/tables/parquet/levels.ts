/** The levels of a leaf column's places, as Parquet has them (Dremel). */
export type Levels = {
  /**
   * A byte a place. The upper half: in which list of its path it is not the first; 0 begins a row. The lower half: how much
   * of its path is there, up to the leaf's most, which is a value.
   */
  places: Uint8Array;
  count: number;
};

/** Neither level may be above. */
export const MOST_LEVEL = 15;

/** How many bits of a place are below each of its levels. */
export const SHIFTS = { repetition: 4, definition: 0 } as const;

const FIRST_COUNT = 1_024;

export const noLevels = (): Levels => ({ places: new Uint8Array(FIRST_COUNT), count: 0 });

export function addLevels(levels: Levels, repetition: number, definition: number): void {
  const { count } = levels;
  if (count === levels.places.length) {
    const larger = new Uint8Array(2 * count);
    larger.set(levels.places);
    levels.places = larger;
  }
  levels.places[count] = (repetition << SHIFTS.repetition) | definition;
  levels.count = count + 1;
}

/** The same place in several leaves. */
export function addToEach(leaves: readonly Levels[], repetition: number, definition: number): void {
  for (const levels of leaves) addLevels(levels, repetition, definition);
}

/** True if the place that was added last has a value, whose level is `most`. */
export const endsInValue = ({ places, count }: Levels, most: number): boolean =>
  ((places[count - 1] ?? 0) & MOST_LEVEL) === most;

/** Forgets all places but the first `kept`. Returns how many of the others had a value, whose level is `most`. */
export function takeBack(levels: Levels, kept: number, most: number): number {
  let values = 0;
  for (let place = kept; place < levels.count; place += 1)
    if (((levels.places[place] ?? 0) & MOST_LEVEL) === most) values += 1;
  levels.count = kept;
  return values;
}
