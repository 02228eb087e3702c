import { hash } from 'node:crypto';

/*
 * Strings stored as 64 bits of their hashes. Among a million strings, the probability that two are confused is one
 * in 30 million.
 */

/** A set of strings that takes 11 to 22 bytes for each string. The strings must be well-formed. */
type SeenTexts = {
  /** Adds a string. Returns false if the set already had it. */
  add(text: string): boolean;
  size(): number;
};

/** Creates an empty set of strings. */
export function createSeenTexts(): SeenTexts {
  const table = createTable(2);
  return { add: (text) => table.put(text), size: table.size };
}

/**
 * Creates an empty map from strings to whole numbers from 1 to 2^32 - 1, which takes 16 to 32 bytes for each
 * string.
 */
export function createNumbersByText(): {
  get(text: string): number | undefined;
  set(text: string, number: number): void;
  count(): number;
} {
  const table = createTable(3);
  // JSON escapes lone surrogates, so that different strings have different bytes in UTF-8.
  const textOf = (text: string) => JSON.stringify(text);
  return {
    get: (text) => table.numberOf(textOf(text)),
    set: (text, number) => void table.put(textOf(text), number),
    count: table.size,
  };
}

const MAX_FULL = 0.75;
const FIRST_SLOTS = 1_024;

/**
 * Creates a hash table with `width` words for a slot: two words for the hash, of which the second is 0 in a free
 * slot, and with a width of three a word for a number.
 */
function createTable(width: 2 | 3) {
  let words = new Uint32Array(width * FIRST_SLOTS);
  let size = 0;
  const slotOf = (high: number, low: number) => {
    let at = width * (high & (words.length / width - 1));
    while (words[at + 1] !== 0 && (words[at] !== high || words[at + 1] !== low)) {
      at += width;
      if (at === words.length) at = 0;
    }
    return at;
  };
  const write = (at: number, high: number, low: number, number: number) => {
    words[at] = high;
    words[at + 1] = low;
    if (width === 3) words[at + 2] = number;
  };
  const widen = () => {
    const before = words;
    words = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += width) {
      const high = before[at] ?? 0;
      const low = before[at + 1] ?? 0;
      if (low !== 0) write(slotOf(high, low), high, low, before[at + 2] ?? 0);
    }
  };
  return {
    size: () => size,
    /** Adds a string, and returns whether it is new. */
    put(text: string, number = 0): boolean {
      const digest = digestOf(text);
      const high = wordAt(digest, 0);
      const low = wordAt(digest, 1) || 1;
      const at = slotOf(high, low);
      const isNew = words[at + 1] === 0;
      if (isNew || width === 3) write(at, high, low, number);
      if (isNew) size += 1;
      if (width * size > MAX_FULL * words.length) widen();
      return isNew;
    },
    numberOf(text: string): number | undefined {
      const digest = digestOf(text);
      const at = slotOf(wordAt(digest, 0), wordAt(digest, 1) || 1);
      return words[at + 1] === 0 ? undefined : words[at + 2];
    },
  };
}

/** The hash as a string with one character for each byte, which takes half the time of a buffer. */
const digestOf = (text: string): string => hash('sha256', text, 'binary');

function wordAt(bytes: string, index: number): number {
  const at = 4 * index;
  const low = bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8);
  const high = bytes.charCodeAt(at + 2) | (bytes.charCodeAt(at + 3) << 8);
  return (low | (high << 16)) >>> 0;
}
