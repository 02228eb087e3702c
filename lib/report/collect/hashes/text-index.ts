import { shownText } from '../values.ts';
import { createHashIndex, type HashIndex } from './hash-index.ts';

/**
 * Numbers distinct texts, as `HashIndex` does, and knows the first of them, shortened. The text of a later one is known
 * only if it was wanted after all were added, and then named when it was read again.
 */
export type TextIndex = HashIndex & {
  readonly want: (number: number) => void;
  /** True if a text that is wanted is not known. */
  readonly isWanting: () => boolean;
  readonly name: (text: string) => void;
  readonly textOf: (number: number) => string;
};

/** `most`: how many texts are known at once. */
export function createTextIndex(most: number): TextIndex {
  const index = createHashIndex();
  const first: string[] = [];
  const later = new Map<number, string>();
  const wanted = new Set<number>();
  return {
    ...index,
    add(text) {
      const number = index.add(text);
      if (number === first.length && number < most) first.push(shownText(text));
      return number;
    },
    want(number) {
      if (number >= first.length && !later.has(number)) wanted.add(number);
    },
    isWanting: () => wanted.size > 0,
    name(text) {
      if (wanted.size === 0) return;
      const number = index.find(text);
      if (number !== undefined && wanted.delete(number)) later.set(number, shownText(text));
    },
    textOf: (number) => first[number] ?? later.get(number) ?? '',
  };
}
