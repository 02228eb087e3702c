import { hash } from 'node:crypto';
import { shortened } from '../../../json/faults.ts';

/** Rows whose id an earlier row has. */
export type RepeatedIds = {
  /** How many. */
  readonly rows: number;
  /** The first of them, each with the line on which its id came first, and its own. */
  readonly first: readonly { readonly id: string; readonly lines: readonly [number, number] }[];
  /** Set if there are more ids than were compared: how many were. */
  readonly compared?: number | undefined;
};

/** How many repeated ids are named, and the most characters of one. */
const MOST_NAMED = 20;
const LONGEST_NAMED = 100;

/** The most ids that are compared: they take up to 100 MB. */
const MOST_IDS = 2_000_000;
const LEAST_SLOTS = 1_024;

export type IdComparison = {
  readonly add: (id: string, line: number) => void;
  readonly found: () => RepeatedIds;
};

/**
 * Compares ids by 64 bits of their hashes: of a million ids, two different ones are taken for the same once in 30 million
 * files. At most `mostIds` are held.
 */
export function compareIds(mostIds = MOST_IDS): IdComparison {
  let slots = createSlots(LEAST_SLOTS);
  let held = 0;
  let rows = 0;
  let isFull = false;
  const first: RepeatedIds['first'][number][] = [];
  return {
    add(id, line) {
      const digest = hash('sha256', JSON.stringify(id), 'buffer');
      const at = slots.find(digest.readUInt32LE(0), digest.readUInt32LE(4));
      const earlier = slots.lineAt(at);
      if (earlier > 0) {
        rows += 1;
        if (first.length < MOST_NAMED)
          first.push({ id: shortened(id.toWellFormed(), LONGEST_NAMED), lines: [earlier, line] });
        return;
      }
      if (held === mostIds) {
        isFull = true;
        return;
      }
      slots.set(at, digest.readUInt32LE(0), digest.readUInt32LE(4), line);
      held += 1;
      if (2 * held > slots.size) slots = slots.doubled();
    },
    found: () => ({ rows, first, ...(isFull ? { compared: mostIds } : {}) }),
  };
}

/** A hash table with open addressing: two words of a hash, and the line, which is 0 in an empty slot. */
function createSlots(size: number) {
  const words = new Uint32Array(3 * size);
  const find = (low: number, high: number) => {
    let at = low & (size - 1);
    while (words[3 * at + 2] !== 0 && (words[3 * at] !== low || words[3 * at + 1] !== high))
      at = (at + 1) & (size - 1);
    return at;
  };
  const set = (at: number, low: number, high: number, line: number) => words.set([low, high, line], 3 * at);
  return {
    size,
    find,
    set,
    lineAt: (at: number) => words[3 * at + 2] ?? 0,
    doubled() {
      const larger = createSlots(2 * size);
      for (let at = 0; at < size; at += 1) {
        const [low = 0, high = 0, line = 0] = words.subarray(3 * at, 3 * at + 3);
        if (line > 0) larger.set(larger.find(low, high), low, high, line);
      }
      return larger;
    },
  };
}
