import type { ObserveComparison, RunSide } from './comparison-events.ts';
import { keyHash } from './key-hash.ts';
import { copyOf, type Line, lineOf } from './line-reader.ts';

/** A key's lines in both runs, as far as they have been read. */
export type HeldRecord = {
  before: Buffer | undefined;
  after: Buffer | undefined;
  /** The runs in which the key is repeated. */
  readonly repeated: RunSide[];
};

/** The share of a range that remains when it is narrowed. */
const KEPT_SHARE = 0.75;

/**
 * Holds the records whose key hash is in a range (from `from` up to, but not including, `to`) in at most `memoryBytes`.
 * When they exceed that, the range is narrowed at its upper end and the records beyond it are dropped, so that the
 * remaining range is complete. At least one key is always held, however large.
 */
export function createHeldRecords(
  range: { readonly from: number; readonly to: number },
  {
    memoryBytes,
    isEqual,
    observe,
  }: {
    readonly memoryBytes: number;
    /** True if two lines are equal by the rules of their source. */
    readonly isEqual: (before: Line, after: Line) => boolean;
    readonly observe?: ObserveComparison | undefined;
  },
) {
  const records = new Map<string, HeldRecord & { readonly hash: number }>();
  let { to } = range;
  let bytes = 0;

  const narrow = () => {
    to = range.from + Math.max(1, Math.floor((to - range.from) * KEPT_SHARE));
    for (const [key, record] of records) {
      if (record.hash < to) continue;
      bytes -= sizeOf(key, record);
      records.delete(key);
    }
  };

  return {
    records: records as ReadonlyMap<string, HeldRecord>,
    bytes: () => bytes,
    to: () => to,
    /** Adds a record of one run if it is in the range; a later one with the same key replaces it. */
    add(side: RunSide, key: string, line: Line): void {
      const hash = keyHash(key);
      if (hash < range.from || hash >= to) return;
      const known = records.get(key);
      const record = known ?? { hash, before: undefined, after: undefined, repeated: [] };
      if (known === undefined) records.set(key, record);
      else bytes -= sizeOf(key, known);
      if (record[side] !== undefined && !record.repeated.includes(side)) record.repeated.push(side);
      // Most records do not change: those that are equal are held once.
      const isHeld = side === 'after' && record.before !== undefined && isEqual(lineOf(record.before), line);
      record[side] = isHeld ? record.before : copyOf(line);
      bytes += sizeOf(key, record);
      while (bytes > memoryBytes && records.size > 1 && to - range.from > 1) narrow();
      observe?.({ kind: 'held', records: records.size, bytes });
    },
  };
}

/** The size of a map entry and its object: about 190 on V8 in Node 24, rounded up. */
const ENTRY_BYTES = 250;
/** The size of the object around the bytes of a line: about 120, rounded up. */
const LINE_BYTES = 150;

/** The most bytes that a key can take: two a character; a line that is held for both sides counts once. */
function sizeOf(key: string, { before, after }: HeldRecord): number {
  const sizeOfLine = (line: Buffer | undefined) => (line === undefined ? 0 : LINE_BYTES + line.byteLength);
  return ENTRY_BYTES + 2 * key.length + sizeOfLine(before) + (after === before ? 0 : sizeOfLine(after));
}
