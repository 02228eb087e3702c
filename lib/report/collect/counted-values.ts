import { freeMemory } from '../../bytes/free-memory.ts';
import type { Counts } from '../facts.ts';
import { grown } from './hashes/grown.ts';
import { createTextIndex } from './hashes/text-index.ts';

/** Counts how often each value occurs, however many there are. Values are read twice if there are very many. */
export type CountedValues = {
  readonly add: (value: string) => void;
  /** Called when all were added: true if they must be read again, each by `name`. */
  readonly choose: () => boolean;
  readonly name: (value: string) => void;
  readonly counts: () => Counts;
};

/** How many values are listed, and how many of the first are known at once. */
const LISTED = 50;
const KNOWN = 1_000;

export function createCountedValues(): CountedValues {
  const index = createTextIndex(KNOWN);
  let counts = new Uint32Array(64);
  let total = 0;
  let chosen: readonly number[] = [];
  return {
    add(value) {
      const number = index.add(value);
      counts = grown(counts, number);
      counts[number] = (counts[number] ?? 0) + 1;
      total += 1;
    },
    choose() {
      chosen = highest(counts.subarray(0, index.size()), LISTED);
      for (const number of chosen) index.want(number);
      return index.isWanting();
    },
    name: (value) => index.name(value),
    counts: () => {
      const values = chosen.map((number) => [index.textOf(number), counts[number] ?? 0] as const);
      return { values, others: total - values.reduce((sum, [, count]) => sum + count, 0) };
    },
  };
}

/** The places of the highest numbers, highest first; of equal ones, the first. */
export function highest(numbers: Uint32Array | Float64Array, most: number): readonly number[] {
  const limit = limitOf(numbers, most);
  const above: number[] = [];
  const equal: number[] = [];
  for (let place = 0; place < numbers.length; place += 1) {
    const number = numbers[place] ?? 0;
    if (number > limit) above.push(place);
    else if (number === limit && equal.length < most) equal.push(place);
  }
  return [...above.sort((a, b) => (numbers[b] ?? 0) - (numbers[a] ?? 0) || a - b), ...equal].slice(0, most);
}

/** The lowest of the `most` highest numbers; less than all of them if there are no more. */
function limitOf(numbers: Uint32Array | Float64Array, most: number): number {
  if (numbers.length <= most) return Number.NEGATIVE_INFINITY;
  const sorted = numbers.slice().sort();
  const limit = sorted[sorted.length - most] ?? 0;
  freeMemory(sorted);
  return limit;
}
