import type { ListLimits } from './list-limits.ts';

/**
 * Says of one thing after another whether it is listed: all are if there are at most `whole`, or else the first `top`,
 * and the first `top` with each bit of its flags among `bits`.
 */
export function createChoice(total: number, bits: readonly number[], { whole, top }: ListLimits) {
  let left = top;
  const lefts = bits.map((bit) => ({ bit, left: top }));
  return (flags: number): boolean => {
    let isListed = total <= whole || left > 0;
    left -= 1;
    for (const each of lefts)
      if ((flags & each.bit) !== 0 && each.left > 0) {
        each.left -= 1;
        isListed = true;
      }
    return isListed;
  };
}

/** Counts how many things have each flag. */
export function createFlagCounts<F extends string>(bits: Readonly<Record<F, number>>) {
  const names = Object.keys(bits) as F[];
  const counts = Object.fromEntries(names.map((name) => [name, 0])) as Record<F, number>;
  return {
    counts: counts as Readonly<Record<F, number>>,
    add(flags: number): void {
      for (const name of names) if ((flags & bits[name]) !== 0) counts[name] += 1;
    },
  };
}
