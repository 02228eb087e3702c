import { grown } from './grown.ts';
import { type Hash, hashText } from './hash-text.ts';

/** Numbers distinct texts from 0, in the order in which they were added: 20 to 32 bytes each, and no texts. */
export type HashIndex = {
  readonly size: () => number;
  /** The number of a text, which is a new one if it was not there. */
  readonly add: (text: string) => number;
  readonly addHash: (hash: Hash) => number;
  /** The number of a text; undefined if it was not added. */
  readonly find: (text: string) => number | undefined;
};

export function createHashIndex(): HashIndex {
  let pairs = new Uint32Array(128);
  let slots = new Uint32Array(256);
  let size = 0;

  /** The slot of a hash, or the empty one where it belongs. */
  function slotOf(low: number, high: number): number {
    let slot = (low ^ high) & (slots.length - 1);
    for (let entry = slots[slot] ?? 0; entry !== 0; entry = slots[slot] ?? 0) {
      if (pairs[2 * entry - 2] === low && pairs[2 * entry - 1] === high) return slot;
      slot = (slot + 1) & (slots.length - 1);
    }
    return slot;
  }

  function widen(): void {
    slots = new Uint32Array(2 * slots.length);
    for (let entry = 1; entry <= size; entry += 1)
      slots[slotOf(pairs[2 * entry - 2] ?? 0, pairs[2 * entry - 1] ?? 0)] = entry;
  }

  function addHash({ low, high }: Hash): number {
    const slot = slotOf(low, high);
    const found = slots[slot] ?? 0;
    if (found !== 0) return found - 1;
    pairs = grown(pairs, 2 * size + 1);
    pairs[2 * size] = low;
    pairs[2 * size + 1] = high;
    size += 1;
    slots[slot] = size;
    if (2 * size > slots.length) widen();
    return size - 1;
  }

  return {
    size: () => size,
    add: (text) => addHash(hashText(text)),
    addHash,
    find(text) {
      const { low, high } = hashText(text);
      const found = slots[slotOf(low, high)] ?? 0;
      return found === 0 ? undefined : found - 1;
    },
  };
}
