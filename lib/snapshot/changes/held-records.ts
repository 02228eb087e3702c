import type { ObserveComparison, RunSide } from './comparison-events.ts';
import { keyHash } from './key-hash.ts';
import type { StoredRecord } from './run-records.ts';

/** A key's lines in both runs, as far as they were read. */
export type HeldRecord = {
  before: string | undefined;
  after: string | undefined;
  /** The runs in which the key came again. */
  readonly repeated: RunSide[];
};

/** How much of a range is kept when it is too wide. */
const KEPT = 0.75;

/**
 * Holds the records whose key's hash lies in a range (`from` up to, not including, `to`) within a number of bytes:
 * once they are more, the range is narrowed from its upper end and what lies beyond is let go, so that all that is
 * left in the range is whole. One key is always held, however large.
 */
export function createHeldRecords(
  range: { readonly from: number; readonly to: number },
  memoryBytes: number,
  observe?: ObserveComparison,
) {
  const records = new Map<string, HeldRecord & { readonly hash: number }>();
  let { to } = range;
  let bytes = 0;

  const narrow = () => {
    to = range.from + Math.max(1, Math.floor((to - range.from) * KEPT));
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
    /** Takes a record of one run if it lies in the range; a later one of the same key takes its place. */
    add(side: RunSide, { key, line }: StoredRecord): void {
      const hash = keyHash(key);
      if (hash < range.from || hash >= to) return;
      const known = records.get(key);
      const record = known ?? { hash, before: undefined, after: undefined, repeated: [] };
      if (known === undefined) records.set(key, record);
      else bytes -= sizeOf(key, known);
      if (record[side] !== undefined && !record.repeated.includes(side)) record.repeated.push(side);
      // Most records do not change: the same text is held once.
      record[side] = line === record.before ? record.before : line;
      bytes += sizeOf(key, record);
      while (bytes > memoryBytes && records.size > 1 && to - range.from > 1) narrow();
      observe?.({ kind: 'held', records: records.size, bytes });
    },
  };
}

/** What an entry of a map and its object take beside the texts: about 190 on V8 in Node 24, rounded up. */
const ENTRY_BYTES = 250;

/** Bytes that a key takes at most: two a character, a line that is the same on both sides once. */
function sizeOf(key: string, { before, after }: HeldRecord): number {
  const characters = key.length + (before?.length ?? 0) + (after === before ? 0 : (after?.length ?? 0));
  return ENTRY_BYTES + 2 * characters;
}
