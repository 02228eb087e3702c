/** How full the table may be. */
const FILL = 0.5;
const EMPTY = -1;

/** A set of hashes, whole numbers from 0 that a double holds, for at most `most` of them: 16 to 32 bytes each. */
export function createSeenHashes(most: number) {
  const size = 2 ** Math.ceil(Math.log2(Math.max(16, most / FILL)));
  const table = new Float64Array(size).fill(EMPTY);
  return {
    /** Adds a hash; false if it was there. */
    add(hash: number): boolean {
      let at = hash % size;
      while (table[at] !== EMPTY) {
        if (table[at] === hash) return false;
        at = (at + 1) % size;
      }
      table[at] = hash;
      return true;
    },
  };
}
