import { hash } from 'node:crypto';

/**
 * Which keys have been seen, in 11 to 22 bytes each, whatever their length: an open hash table of 64 bits a key. Two of
 * a million keys have the same 64 bits in one of 30 million cases: then a key counts as seen that was not.
 */
export type SeenKeys = {
  /** Adds a key; false if it was already there. */
  add(key: string): boolean;
  size(): number;
  /** 128 bits in hex that are the same for the same keys in whatever order, and for no others. */
  digest(): string;
};

/** Two words a key; the table doubles before it is fuller than this. */
const MOST_FULL = 0.75;
const FIRST_SLOTS = 1_024;

export function createSeenKeys(): SeenKeys {
  let words = new Uint32Array(2 * FIRST_SLOTS);
  let size = 0;
  const sum = new Uint32Array(4);
  const grow = () => {
    const before = words;
    words = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 2) put(words, before[at] ?? 0, before[at + 1] ?? 0);
  };
  return {
    size: () => size,
    digest: () => Buffer.from(sum.buffer).toString('hex'),
    add(key) {
      const digest = hash('sha256', key, 'buffer');
      // A pair of zeros is a free slot.
      const [high, low] = [digest.readUInt32LE(0), digest.readUInt32LE(4) || 1];
      if (!put(words, high, low)) return false;
      size += 1;
      for (const at of sum.keys()) sum[at] = (sum[at] ?? 0) ^ digest.readUInt32LE(8 + 4 * at);
      if (2 * size > MOST_FULL * words.length) grow();
      return true;
    },
  };
}

/** Puts a pair of words into the table, which has a free slot; false if it is there, or is a free slot itself. */
function put(words: Uint32Array, high: number, low: number): boolean {
  if (low === 0) return false;
  const mask = words.length - 1;
  for (let at = (2 * high) & mask; ; at = (at + 2) & mask) {
    if (words[at + 1] === 0) {
      words[at] = high;
      words[at + 1] = low;
      return true;
    }
    if (words[at] === high && words[at + 1] === low) return false;
  }
}
