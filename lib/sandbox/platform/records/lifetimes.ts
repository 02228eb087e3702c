/** Creates a log of when records were added and deleted. A record that was never added has existed from the start. */
export function createLifetimes<Key>() {
  const addedAt = new Map<Key, number>();
  const deletedAt = new Map<Key, number>();
  return {
    added: (key: Key, atMs: number) => void addedAt.set(key, atMs),
    deleted: (key: Key, atMs: number) => void deletedAt.set(key, atMs),
    isDeleted: (key: Key) => deletedAt.has(key),
    /** The records that were added after `fromMs`, including deleted ones. */
    addedAfter(fromMs: number): ReadonlySet<Key> {
      const keys = new Set<Key>();
      for (const [key, atMs] of addedAt) if (atMs > fromMs) keys.add(key);
      return keys;
    },
    /**
     * The records that existed from `fromMs` to `toMs`, except those that were added or deleted in exactly these
     * milliseconds. `live` are the records that exist now.
     */
    livedThrough(live: Iterable<Key>, fromMs: number, toMs: number): Key[] {
      const keys: Key[] = [];
      const existedBefore = (key: Key) => (addedAt.get(key) ?? Number.NEGATIVE_INFINITY) < fromMs;
      for (const key of live) if (existedBefore(key)) keys.push(key);
      for (const [key, atMs] of deletedAt) if (atMs > toMs && existedBefore(key)) keys.push(key);
      return keys;
    },
  };
}
