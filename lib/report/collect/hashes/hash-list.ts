import { freeMemory } from '../../../bytes/free-memory.ts';
import { grown } from './grown.ts';
import { type Hash, hashText } from './hash-text.ts';

/** Hashes of texts, one after another: 8 bytes each. */
export type HashList = {
  readonly length: () => number;
  readonly add: (text: string) => void;
  /** Adds a place for a text that is not there, which equals no other. */
  readonly addNone: () => void;
  readonly sorted: () => SortedHashes;
  /** The hash at a place: the same object each time. Of a text that is not there, 0 and 0. */
  readonly at: (place: number) => Hash;
  /** Frees the memory of the list, which is empty then. */
  readonly free: () => void;
  /** True if the text at a place occurs at another place too. */
  readonly isRepeated: (place: number, sorted: SortedHashes) => boolean;
};

/** The hashes of a list in their order. */
export type SortedHashes = {
  readonly has: (text: string) => boolean;
  readonly hasHash: (hash: Hash) => boolean;
  readonly isRepeated: (low: number, high: number) => boolean;
  readonly free: () => void;
};

/** A list with room for so many texts; it grows. */
export function createHashList(room = 0): HashList {
  // Pairs of a lower and a higher half: one number of 64 bits each, on every machine that Node runs on.
  let pairs = new Uint32Array(2 * room);
  let length = 0;
  const found: Hash = { low: 0, high: 0 };
  const put = (low: number, high: number) => {
    pairs = grown(pairs, 2 * length + 1);
    pairs[2 * length] = low;
    pairs[2 * length + 1] = high;
    length += 1;
  };
  return {
    length: () => length,
    add(text) {
      const { low, high } = hashText(text);
      put(low, high);
    },
    addNone: () => put(0, 0),
    at(place) {
      found.low = pairs[2 * place] ?? 0;
      found.high = pairs[2 * place + 1] ?? 0;
      return found;
    },
    free() {
      freeMemory(pairs);
      pairs = new Uint32Array(0);
      length = 0;
    },
    sorted: () => sortedHashes(pairs.slice(0, 2 * length)),
    isRepeated: (place, sorted) => sorted.isRepeated(pairs[2 * place] ?? 0, pairs[2 * place + 1] ?? 0),
  };
}

function sortedHashes(pairs: Uint32Array<ArrayBuffer>): SortedHashes {
  new BigUint64Array(pairs.buffer).sort();
  const count = pairs.length / 2;
  const isBelow = (place: number, low: number, high: number) => {
    const other = pairs[2 * place + 1] ?? 0;
    return other === high ? (pairs[2 * place] ?? 0) < low : other < high;
  };
  const isAt = (place: number, low: number, high: number) =>
    place < count && pairs[2 * place] === low && pairs[2 * place + 1] === high;
  /** The first place whose hash is not lower. */
  function placeOf(low: number, high: number): number {
    let [from, to] = [0, count];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (isBelow(middle, low, high)) from = middle + 1;
      else to = middle;
    }
    return from;
  }
  const hasHash = ({ low, high }: Hash) => isAt(placeOf(low, high), low, high);
  return {
    has: (text) => hasHash(hashText(text)),
    hasHash,
    free: () => freeMemory(pairs),
    isRepeated: (low, high) => high !== 0 && isAt(placeOf(low, high) + 1, low, high),
  };
}
