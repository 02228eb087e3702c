import { hash } from 'node:crypto';

/** Whole numbers from 1 to 2^32 - 1, each by a text. */
export type NumbersByText = {
  /** Undefined if the text has none. */
  readonly get: (text: string) => number | undefined;
  readonly set: (text: string, number: number) => void;
  readonly count: () => number;
};

const LEAST_SLOTS = 1_024;

/**
 * Holds texts as 64 bits of their hashes, in 24 to 48 bytes each: of a million texts, two different ones are taken for
 * the same once in 30 million files.
 */
export function createNumbersByText(): NumbersByText {
  let slots = createSlots(LEAST_SLOTS);
  let held = 0;
  return {
    get(text) {
      const number = slots.numberAt(slots.find(...wordsOf(text)));
      return number === 0 ? undefined : number;
    },
    set(text, number) {
      const [low, high] = wordsOf(text);
      const at = slots.find(low, high);
      if (slots.numberAt(at) === 0) held += 1;
      slots.set(at, low, high, number);
      if (2 * held > slots.size) slots = slots.doubled();
    },
    count: () => held,
  };
}

/** Quoted as JSON, a text with half of a surrogate pair differs from every other one. */
function wordsOf(text: string): [low: number, high: number] {
  const digest = hash('sha256', JSON.stringify(text), 'hex');
  return [Number.parseInt(digest.slice(0, 8), 16), Number.parseInt(digest.slice(8, 16), 16)];
}

/** A hash table with open addressing: two words of a hash, and the number, which is 0 in an empty slot. */
function createSlots(size: number) {
  const words = new Uint32Array(3 * size);
  const find = (low: number, high: number) => {
    let at = low & (size - 1);
    while (words[3 * at + 2] !== 0 && (words[3 * at] !== low || words[3 * at + 1] !== high))
      at = (at + 1) & (size - 1);
    return at;
  };
  const set = (at: number, low: number, high: number, number: number) =>
    words.set([low, high, number], 3 * at);
  return {
    size,
    find,
    set,
    numberAt: (at: number) => words[3 * at + 2] ?? 0,
    doubled() {
      const larger = createSlots(2 * size);
      for (let at = 0; at < size; at += 1) {
        const [low = 0, high = 0, number = 0] = words.subarray(3 * at, 3 * at + 3);
        if (number > 0) larger.set(larger.find(low, high), low, high, number);
      }
      return larger;
    },
  };
}
