/** When records came and went. Those that were never added have been there from the beginning. */
export type Lifetimes<Key> = {
  added(key: Key, atMs: number): void;
  deleted(key: Key, atMs: number): void;
  isDeleted(key: Key): boolean;
  /**
   * The keys that existed before `fromMs` and still after `toMs`. What came or went within the same millisecond as
   * an end is left out: it cannot be told on which side it was.
   */
  livedThrough(live: Iterable<Key>, fromMs: number, toMs: number): Key[];
};

export function createLifetimes<Key>(): Lifetimes<Key> {
  const addedAt = new Map<Key, number>();
  const deletedAt = new Map<Key, number>();
  return {
    added: (key, atMs) => void addedAt.set(key, atMs),
    deleted: (key, atMs) => void deletedAt.set(key, atMs),
    isDeleted: (key) => deletedAt.has(key),
    livedThrough(live, fromMs, toMs) {
      const keys: Key[] = [];
      const cameBefore = (key: Key) => (addedAt.get(key) ?? Number.NEGATIVE_INFINITY) < fromMs;
      for (const key of live) if (cameBefore(key)) keys.push(key);
      for (const [key, atMs] of deletedAt) if (atMs > toMs && cameBefore(key)) keys.push(key);
      return keys;
    },
  };
}
