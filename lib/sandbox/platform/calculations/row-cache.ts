/** The most rows in the cache. A million rows of 700 bytes would be too much. */
const CACHED_ROWS = 65_536;

/** Caches the JSON of rows as UTF-8, so that a page is assembled without creating or encoding them again. */
export function createRowCache(print: (sequence: number) => string): {
  row(sequence: number): Uint8Array;
  /** To be called after the record has changed. */
  drop(sequence: number): void;
} {
  const rows = new Map<number, Uint8Array>();
  return {
    row(sequence) {
      const cached = rows.get(sequence);
      if (cached !== undefined) return cached;
      if (rows.size >= CACHED_ROWS) rows.clear();
      const row = Buffer.from(print(sequence));
      rows.set(sequence, row);
      return row;
    },
    drop: (sequence) => void rows.delete(sequence),
  };
}
