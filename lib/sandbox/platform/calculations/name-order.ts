import { insertSorted, removeSorted } from './sorted-list.ts';

/** The order of calculations by name, made when it is first asked for and kept from then on. */
export type NameOrder = {
  sequences(): readonly number[];
  /** After a calculation came, or got its new name. */
  add(sequence: number): void;
  /** Before a calculation goes, or gets a new name. */
  remove(sequence: number): void;
};

export function createNameOrder(
  nameOf: (sequence: number) => string,
  live: () => readonly number[],
): NameOrder {
  const lowered: string[] = [];
  let sorted: number[] | undefined;
  const keyOf = (sequence: number) => {
    lowered[sequence] ??= nameOf(sequence).toLowerCase();
    return lowered[sequence];
  };
  const compare = (a: number, b: number) => {
    const [left, right] = [keyOf(a), keyOf(b)];
    return left < right ? -1 : left > right ? 1 : a - b;
  };
  return {
    sequences() {
      sorted ??= [...live()].sort(compare);
      return sorted;
    },
    add(sequence) {
      if (sorted !== undefined) insertSorted(sorted, sequence, compare);
    },
    remove(sequence) {
      if (sorted !== undefined) removeSorted(sorted, sequence, compare);
      delete lowered[sequence];
    },
  };
}
