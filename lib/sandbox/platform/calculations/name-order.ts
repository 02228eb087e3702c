import { insertSorted, removeSorted } from './sorted-list.ts';

/** The order of calculations by name, created when first needed and then kept up to date. */
export type NameOrder = {
  sequences(): readonly number[];
  /** To be called after a calculation was added or renamed. */
  add(sequence: number): void;
  /** To be called before a calculation is deleted or renamed. */
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
