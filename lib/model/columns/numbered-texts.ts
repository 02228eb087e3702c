import { freeMemory, growing } from '../../base/index.ts';
import type { JsonBytes } from '../../snapshot/page/json-bytes.ts';

/** Texts one behind another in UTF-8, each with a tag of one byte before it: text `n` is from `starts[n]` up to `starts[n + 1]`. */
export type PackedTexts = { readonly bytes: Uint8Array<ArrayBuffer>; readonly starts: Uint32Array };

/** Numbers distinct texts from 0 in the order in which they come. Equal texts with different tags are different. */
export type NumberedTexts = {
  readonly count: () => number;
  /** The number of a text in UTF-8, which is a new one if it was not there. `tag`: 0 to 255. */
  readonly numberOf: (utf8: Uint8Array, tag?: number) => number;
  readonly textOf: (number: number) => string;
  /** All of them, in their memory. What only numbering needs is freed at once: nothing may be asked any more. */
  readonly pack: () => PackedTexts;
};

/**
 * Makes an empty table: open addressing, at most three quarters full. The texts themselves are compared where their
 * hashes are equal, so no two of them are ever taken for one. Memory: 16 to 26 bytes each, and their own.
 */
export function createNumberedTexts(): NumberedTexts {
  const texts = createTexts();
  // Two words a slot: a number and 1 more, 0 if it is free, and the hash, which keeps most texts from being compared.
  let slots = slotsOf(FIRST_SLOTS);

  /** The slot of a text, or the free one where it belongs. */
  function slotOf(hash: number, utf8: Uint8Array, tag: number): number {
    const mask = slots.length - 1;
    let slot = (2 * hash) & mask;
    for (let held = slots[slot] ?? 0; held !== 0; held = slots[slot] ?? 0) {
      if (slots[slot + 1] === hash && texts.isAt(held - 1, utf8, tag)) return slot;
      slot = (slot + 2) & mask;
    }
    return slot;
  }

  function widen(): void {
    const before = slots;
    slots = slotsOf(before.length);
    const mask = slots.length - 1;
    for (let at = 0; at < before.length; at += 2) {
      if (before[at] === 0) continue;
      let slot = (2 * (before[at + 1] ?? 0)) & mask;
      while (slots[slot] !== 0) slot = (slot + 2) & mask;
      slots[slot] = before[at] ?? 0;
      slots[slot + 1] = before[at + 1] ?? 0;
    }
    freeMemory(before);
  }

  return {
    count: texts.count,
    numberOf(utf8, tag = 0) {
      const hash = hashOf(utf8, tag);
      const slot = slotOf(hash, utf8, tag);
      const held = slots[slot] ?? 0;
      if (held !== 0) return held - 1;
      texts.append(utf8, tag);
      slots[slot] = texts.count();
      slots[slot + 1] = hash;
      if (2 * texts.count() > MOST_FULL * slots.length) widen();
      return texts.count() - 1;
    },
    textOf: (number) => textAt(texts.packed(), number),
    pack() {
      freeMemory(slots);
      return texts.packed();
    },
  };
}

function createTexts() {
  let bytes = new Uint8Array(new ArrayBuffer(FIRST_BYTES));
  const starts = growing(Uint32Array);
  starts.push(0);
  const count = () => starts.length() - 1;
  return {
    count,
    append(utf8: Uint8Array, tag: number): void {
      const start = starts.at(count());
      const end = start + 1 + utf8.length;
      // Frees the old memory at once: the garbage collector does not see how much it is.
      if (end > bytes.length) bytes = new Uint8Array(bytes.buffer.transfer(Math.ceil(GROWTH * end)));
      bytes[start] = tag;
      bytes.set(utf8, start + 1);
      starts.push(end);
    },
    isAt(number: number, utf8: Uint8Array, tag: number): boolean {
      const start = starts.at(number);
      const { length } = utf8;
      if (starts.at(number + 1) - start - 1 !== length || bytes[start] !== tag) return false;
      for (let at = 0; at < length; at += 1) if (bytes[start + 1 + at] !== utf8[at]) return false;
      return true;
    },
    packed: () => ({ bytes: bytes.subarray(0, starts.at(count())), starts: starts.values() }),
  };
}

/** A text, without its tag. */
export const textAt = ({ bytes, starts }: PackedTexts, number: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset).toString('utf8', (starts[number] ?? 0) + 1, starts[number + 1]);

/** Texts as bytes that columns take spans of. */
export const jsonBytesOf = ({ bytes: { buffer, byteOffset, byteLength } }: PackedTexts): JsonBytes => ({
  bytes: Buffer.from(buffer, byteOffset, byteLength),
  view: new DataView(buffer, byteOffset, byteLength),
});

const FIRST_SLOTS = 4_096;
const MOST_FULL = 0.75;
const FIRST_BYTES = 16_384;
const GROWTH = 4 / 3;

const slotsOf = (count: number) => new Uint32Array(new ArrayBuffer(8 * count));

/** A hash of 32 bits, mixed at the end so that its low bits depend on all of the text. */
function hashOf(utf8: Uint8Array, tag: number): number {
  let hash = Math.imul(tag + 1, 0x9e3779b1);
  for (let at = 0; at < utf8.length; at += 1) hash = Math.imul(hash ^ (utf8[at] ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
