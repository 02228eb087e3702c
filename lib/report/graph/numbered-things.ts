import { growing } from '../../bytes/growing.ts';
import { keyHash } from '../../snapshot/changes/key-hash.ts';
import { type Thing, thingKey } from './edges.ts';
import { type Kind, kinds } from './graph.ts';

const KIND_BITS = 0b11;
const RECORD_BIT = 0b100;

/**
 * Numbers things from 0 in the order in which they are first named, by a hash of their kind and id, in 13 to 25 bytes
 * each, whatever their ids. Of a million things, two share a hash once in 500 times.
 */
export function createNumberedThings() {
  const numbers = createNumbers();
  // Of each thing: the position of its kind, and whether a record of it was seen.
  const traits = growing(Uint8Array);

  function numberOf(thing: Thing): number {
    const number = numbers.numberOf(keyHash(thingKey(thing)));
    if (number === traits.length()) traits.push(kinds.indexOf(thing.kind));
    return number;
  }

  return {
    numberOf,
    /** The number of a thing that was named; undefined if it was not. */
    find: (thing: Thing): number | undefined => numbers.find(keyHash(thingKey(thing))),
    /** Records that a snapshot holds a thing. */
    hold(thing: Thing): void {
      const number = numberOf(thing);
      traits.set(number, traits.at(number) | RECORD_BIT);
    },
    count: (): number => traits.length(),
    kindOf: (number: number): Kind => kinds[traits.at(number) & KIND_BITS] ?? 'dataset',
    isHeld: (number: number): boolean => (traits.at(number) & RECORD_BIT) !== 0,
  };
}

/** Of 4,096 slots. */
const FIRST_SLOTS_BYTES = 16_384;

/** Numbers hashes from 0 in the order in which they come: open addressing, at most half full. */
function createNumbers() {
  const hashes = growing(Float64Array);
  let slots = new Uint32Array(new ArrayBuffer(FIRST_SLOTS_BYTES));

  /** The slot of a hash, or the free one where it belongs. A slot holds a number, and 1 more: 0 is free. */
  function slotOf(hash: number): number {
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== 0 && hashes.at((slots[slot] ?? 0) - 1) !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  function makeRoom(): void {
    const room = 2 * slots.byteLength;
    // Frees the old slots at once.
    slots.buffer.transfer(0);
    slots = new Uint32Array(new ArrayBuffer(room));
    for (let number = 0; number < hashes.length(); number += 1) slots[slotOf(hashes.at(number))] = number + 1;
  }

  return {
    find(hash: number): number | undefined {
      const held = slots[slotOf(hash)] ?? 0;
      return held === 0 ? undefined : held - 1;
    },
    numberOf(hash: number): number {
      const slot = slotOf(hash);
      const held = slots[slot] ?? 0;
      if (held !== 0) return held - 1;
      hashes.push(hash);
      slots[slot] = hashes.length();
      if (2 * hashes.length() > slots.length) makeRoom();
      return hashes.length() - 1;
    },
  };
}
