import { hash } from 'node:crypto';

/**
 * Which keys have been seen, in 11 to 22 bytes each, whatever their length: an open hash table of 64 bits a key. Two of
 * a million keys have the same 64 bits in one of 30 million cases: then a key counts as seen that was not.
 */
export type SeenKeys = {
  /** Adds a key; false if it was already there. */
  add(key: string): boolean;
  size(): number;
};

/** Two words a key; the table doubles before it is fuller than this. */
const MOST_FULL = 0.75;
const FIRST_SLOTS = 1_024;

export function createSeenKeys(): SeenKeys {
  let words = new Uint32Array(2 * FIRST_SLOTS);
  let size = 0;
  const grow = () => {
    const before = words;
    words = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 2) put(words, before[at] ?? 0, before[at + 1] ?? 0);
  };
  return {
    size: () => size,
    add(key) {
      // As text of one character a byte: a buffer for each key would take twice the time.
      const digest = hash('sha256', key, 'binary');
      // A second word of zero is a free slot.
      if (!put(words, wordAt(digest, 0), wordAt(digest, 1) || 1)) return false;
      size += 1;
      if (2 * size > MOST_FULL * words.length) grow();
      return true;
    },
  };
}

/** Puts a pair of words into the table, which has a free slot; false if it is there. A free slot changes nothing. */
function put(words: Uint32Array, high: number, low: number): boolean {
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

/** The word of 32 bits at an index. */
function wordAt(bytes: string, index: number): number {
  const at = 4 * index;
  const [low, high] = [
    bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8),
    bytes.charCodeAt(at + 2) | (bytes.charCodeAt(at + 3) << 8),
  ];
  return (low | (high << 16)) >>> 0;
}
