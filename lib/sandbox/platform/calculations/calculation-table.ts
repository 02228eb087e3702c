import { createLifetimes } from '../records/lifetimes.ts';
import { type Calculation, type CalculationChanges, rowText } from './calculation.ts';
import { createNameOrder } from './name-order.ts';
import { createRowCache } from './row-cache.ts';
import { insertSorted, removeSorted } from './sorted-list.ts';

/** All calculations that exist now. Positions and sequences are numbers; ids are digits. */
export type CalculationTable = {
  size(): number;
  /** Increases with every change: whatever was derived from an older version is stale. */
  version(): number;
  /** The calculation with this id, or undefined if there is none now. */
  get(id: string): Calculation | undefined;
  /** The calculation with this sequence, even if it has been deleted. */
  at(sequence: number): Calculation;
  /** Sequences in the order of ids, which is also that of creation. */
  byId(): readonly number[];
  /** Sequences in the order of names, ignoring case; equal names in the order of ids. */
  byName(): readonly number[];
  /** The JSON of the calculation's search row, as UTF-8, so that pages are assembled without encoding it again. */
  row(sequence: number): Uint8Array;
  /** Adds one with the next higher id. Its creation time is the table's clock, but never before the previous one's. */
  add(): Calculation;
  /** Changes one, and increases `lastModified` by at least 1. Undefined if there is none. */
  change(id: string, changes: CalculationChanges): Calculation | undefined;
  /** True if there was one to delete. */
  delete(id: string): boolean;
  /** The ids that existed before `fromMs` and still existed after `toMs`, ascending. By the table's clock. */
  livedThrough(fromMs: number, toMs: number): readonly string[];
};

export type TableOptions = {
  /** How many calculations there are at the start. */
  readonly seeded: number;
  readonly idOf: (sequence: number) => string;
  readonly sequenceOf: (id: string) => number | undefined;
  /** Draws calculation `sequence` as it was created. */
  readonly draw: (sequence: number) => Calculation;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Stores only what differs from what is drawn: a million calculations take a few bytes each. */
export function createCalculationTable({
  seeded,
  idOf,
  sequenceOf,
  draw,
  now,
}: TableOptions): CalculationTable {
  const live = Array.from({ length: seeded }, (_, sequence) => sequence);
  const changed = new Map<number, CalculationChanges>();
  const lifetimes = createLifetimes<number>();
  const at = (sequence: number): Calculation => ({ ...draw(sequence), ...changed.get(sequence) });
  const rows = createRowCache((sequence) => rowText(at(sequence)));
  const names = createNameOrder(
    (sequence) => changed.get(sequence)?.name ?? draw(sequence).name,
    () => live,
  );
  let next = seeded;
  let version = 0;

  const isLive = (sequence: number) => sequence < next && !lifetimes.isDeleted(sequence);
  const liveSequence = (id: string) => {
    const sequence = sequenceOf(id);
    return sequence !== undefined && isLive(sequence) ? sequence : undefined;
  };
  const put = (sequence: number, changes: CalculationChanges) => {
    version += 1;
    rows.drop(sequence);
    changed.set(sequence, { ...changed.get(sequence), ...changes });
    return at(sequence);
  };

  return {
    size: () => live.length,
    version: () => version,
    get(id) {
      const sequence = liveSequence(id);
      return sequence === undefined ? undefined : at(sequence);
    },
    at,
    byId: () => live,
    byName: names.sequences,
    row: rows.row,
    add() {
      const sequence = next;
      const created = Math.max(now(), sequence === 0 ? 0 : at(sequence - 1).created);
      next += 1;
      const added = put(sequence, { created, lastModified: created });
      insertSorted(live, sequence, (a, b) => a - b);
      names.add(sequence);
      lifetimes.added(sequence, now());
      return added;
    },
    change(id, changes) {
      const sequence = liveSequence(id);
      if (sequence === undefined) return undefined;
      const lastModified = Math.max(now(), at(sequence).lastModified + 1);
      names.remove(sequence);
      const after = put(sequence, { ...changes, lastModified });
      names.add(sequence);
      return after;
    },
    delete(id) {
      const sequence = liveSequence(id);
      if (sequence === undefined) return false;
      version += 1;
      names.remove(sequence);
      removeSorted(live, sequence, (a, b) => a - b);
      rows.drop(sequence);
      lifetimes.deleted(sequence, now());
      return true;
    },
    livedThrough: (fromMs, toMs) =>
      lifetimes
        .livedThrough(live, fromMs, toMs)
        .sort((a, b) => a - b)
        .map(idOf),
  };
}
