import { growing } from '../../bytes/growing.ts';
import { createNumberedTexts } from '../../model/index.ts';
import type { Counts } from '../facts.ts';
import { createLargest } from './largest.ts';
import { NOT_STATED, shownText } from './values.ts';

/** Counts how often each value occurs, however many there are. */
export type CountedValues = {
  /** The number of a value, which is a text. */
  readonly numberOf: (value: string) => number;
  /** Counts a value by its number; without one, as `NOT_STATED`. */
  readonly add: (number: number | null | undefined) => void;
  readonly counts: () => Counts;
};

/** How many values are listed. */
const LISTED = 50;

export function createCountedValues(): CountedValues {
  const texts = createNumberedTexts();
  const counted = growing(Uint32Array);
  const numberOf = (value: string) => texts.numberOf(Buffer.from(value === '' ? NOT_STATED : value));
  let total = 0;
  return {
    numberOf,
    add(given) {
      const number = given ?? numberOf('');
      while (counted.length() <= number) counted.push(0);
      counted.set(number, counted.at(number) + 1);
      total += 1;
    },
    counts() {
      const most = createLargest<number>(LISTED);
      for (let number = 0; number < counted.length(); number += 1)
        if (counted.at(number) > 0) most.add(counted.at(number), number);
      const values = most
        .values()
        .toSorted((a, b) => counted.at(b) - counted.at(a) || a - b)
        .map((number) => [shownText(texts.textOf(number)), counted.at(number)] as const);
      return { values, others: total - values.reduce((sum, [, count]) => sum + count, 0) };
    },
  };
}
