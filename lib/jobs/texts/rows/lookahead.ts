/** Items of a source that can be read ahead before they are taken. */
export type Lookahead<T> = {
  /** The item `index` places ahead (0 is the next one), or undefined after the end. */
  readonly at: (index: number) => Promise<T | undefined>;
  /** Takes the next `count` items. */
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
      // Not each time: that would copy the rest each time.
      if (start > 1_000 && start * 2 > held.length) [held, start] = [held.slice(start), 0];
    },
  };
}
