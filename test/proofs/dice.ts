/** Pseudo-random choices derived from one seed: the same seed yields the same schedule. */
export type Dice = {
  /** A number of at least 0 and below 1. */
  readonly fraction: () => number;
  /** A whole number from 0 to below `bound`. */
  readonly below: (bound: number) => number;
  /** True in `chance` percent of all calls. */
  readonly percent: (chance: number) => boolean;
  readonly pick: <T>(list: readonly T[]) => T;
};

/** The generator mulberry32, with 32 bits of state. */
export function createDice(seed: number): Dice {
  let state = seed | 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number) => Math.floor(fraction() * bound);
  const pick = <T>(list: readonly T[]): T => {
    if (list.length === 0) throw new RangeError('expected a list to pick from, got an empty one');
    return list[below(list.length)] as T;
  };
  return { fraction, below, percent: (chance) => fraction() * 100 < chance, pick };
}
