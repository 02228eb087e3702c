/** What comes, to be looked at before it is taken. */
export type Lookahead<T> = {
  /** The one that comes after `index` others, or undefined if there is none. */
  readonly at: (index: number) => Promise<T | undefined>;
  /** Takes the first `count`. */
  readonly drop: (count: number) => void;
};

export function createLookahead<T>(source: AsyncIterator<T>): Lookahead<T> {
  let held: T[] = [];
  let start = 0;
  return {
    async at(index) {
      while (held.length <= start + index) {
        const next = await source.next();
        if (next.done) return undefined;
        held.push(next.value);
      }
      return held[start + index];
    },
    drop(count) {
      start += count;
      // Not at each one: that would copy the rest as often.
      if (start > 1_000 && start * 2 > held.length) [held, start] = [held.slice(start), 0];
    },
  };
}
