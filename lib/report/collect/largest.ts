/** Holds the `most` entries of the highest size; of equal ones, those that came first. */
export function createLargest<T>(most: number) {
  const held: { readonly size: number; readonly at: number; readonly value: T }[] = [];
  let [added, limit] = [0, Number.NEGATIVE_INFINITY];
  const trim = () => {
    held.sort((a, b) => b.size - a.size || a.at - b.at);
    held.length = Math.min(held.length, most);
    if (held.length === most) limit = held.at(-1)?.size ?? limit;
  };
  return {
    /** True if an entry of this size would be held now. */
    mayAdd: (size: number) => size > limit || held.length < most,
    add(size: number, value: T) {
      held.push({ size, at: added, value });
      added += 1;
      // Sorted now and then, so that an entry costs little.
      if (held.length >= 2 * most + 16) trim();
    },
    /** The largest, in the order in which they came. */
    values(): readonly T[] {
      trim();
      return held.toSorted((a, b) => a.at - b.at).map(({ value }) => value);
    },
  };
}
