type Compare = (a: number, b: number) => number;

/** The first position whose item does not sort before `item`. */
function positionOf(sorted: readonly number[], item: number, compare: Compare): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(sorted[middle] ?? 0, item) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Inserts an item in its place, modifying the list. */
export function insertSorted(sorted: number[], item: number, compare: Compare): void {
  sorted.splice(positionOf(sorted, item, compare), 0, item);
}

/** Removes an item, modifying the list; an item that is not in it changes nothing. */
export function removeSorted(sorted: number[], item: number, compare: Compare): void {
  const position = positionOf(sorted, item, compare);
  if (sorted[position] === item) sorted.splice(position, 1);
}
