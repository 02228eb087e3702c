/** The most rows that are kept. A million rows of 700 bytes would be too much. */
const KEPT_ROWS = 65_536;

/** Keeps the JSON of rows as UTF-8, so that a page is put together without making or encoding them anew. */
export function createRowCache(print: (sequence: number) => string): {
  row(sequence: number): Uint8Array;
  /** After the record changed. */
  drop(sequence: number): void;
} {
  const rows = new Map<number, Uint8Array>();
  return {
    row(sequence) {
      const kept = rows.get(sequence);
      if (kept !== undefined) return kept;
      if (rows.size >= KEPT_ROWS) rows.clear();
      const row = Buffer.from(print(sequence));
      rows.set(sequence, row);
      return row;
    },
    drop: (sequence) => void rows.delete(sequence),
  };
}
