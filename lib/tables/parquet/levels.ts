/** The levels of a leaf column's places, one of each a place, as Parquet has them (Dremel). */
export type Levels = {
  /** How much of its path is there: up to the leaf's most, which is a value. */
  definitions: Uint8Array;
  /** In which list of its path it is not the first; 0 begins a row. */
  repetitions: Uint8Array;
  count: number;
};

const FIRST_COUNT = 1_024;

export const noLevels = (): Levels => ({
  definitions: new Uint8Array(FIRST_COUNT),
  repetitions: new Uint8Array(FIRST_COUNT),
  count: 0,
});

export function addLevels(levels: Levels, repetition: number, definition: number): void {
  const { count } = levels;
  if (count === levels.definitions.length) {
    levels.definitions = doubled(levels.definitions);
    levels.repetitions = doubled(levels.repetitions);
  }
  levels.definitions[count] = definition;
  levels.repetitions[count] = repetition;
  levels.count = count + 1;
}

function doubled(values: Uint8Array): Uint8Array {
  const larger = new Uint8Array(2 * values.length);
  larger.set(values);
  return larger;
}
