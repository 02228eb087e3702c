import * as z from 'zod/mini';
import type { Id } from '../../../platform/id.ts';
import { batchOf, emptyBatch } from '../../page/record-batch.ts';
import { type Scan, totalsSchema } from '../../scan.ts';
import { readUndegraded } from './degraded-retry.ts';
import { ScanError } from './offset-scan.ts';
import type { ReadSortedPage, SortedPage } from './sorted-pages.ts';

/*
 * Without an order nothing tells a lost row from one that never was. So the rows are read from the first to an empty
 * page, each id is kept once, and that is done again until a round brings nothing new: what slid past in one round,
 * since rows were deleted or came in another order, shows in the next. It is a best effort and no proof.
 */

export type UnorderedScanOptions = {
  readonly readPage: ReadSortedPage;
  /** Rows a page asks for, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** How far an unordered scan has come; plain JSON. What it took is not in it, but in the parts of the run. */
export type UnorderedPosition = {
  /** How often all rows were begun to be read; 1 is the first time. */
  readonly round: number;
  /** The offset after the last row read. */
  readonly next: number;
  /** True if the round has brought something new. */
  readonly isNew: boolean;
  /** Rows of the smallest page that had any. */
  readonly smallest: number;
  /** Pages of the round since one brought something new. */
  readonly idle: number;
  /** True if a page was degraded and stayed so. */
  readonly degraded: boolean;
  readonly totals: { readonly start: number | null; readonly end: number | null };
};

export const unorderedPosition: z.ZodMiniType<UnorderedPosition> = z.object({
  round: z.number(),
  next: z.number(),
  isNew: z.boolean(),
  smallest: z.number(),
  idle: z.number(),
  degraded: z.boolean(),
  totals: totalsSchema,
});

/** Rounds at most, on a platform that has something new in each of them. */
const MOST_ROUNDS = 4;

/** Pages that may bring nothing new, beyond those that read again what was taken, before the scan is given up. */
const IDLE_PAGES = 64;

/**
 * Reads all rows in whatever order they come, but for those that the run has taken, each id once; its outcome is never
 * proved. Memory holds every id of the source, which is the price of keeping each once without an order. The first step
 * brings nothing but the position: wherever the run is stopped from then on, it is gone on with without an order.
 * Throws `ScanError` where the scan comes no further.
 */
export function unorderedScan({ readPage, limit, sleep }: UnorderedScanOptions): Scan<UnorderedPosition> {
  return async function* scan({ from, signal, takenKeys }) {
    let position = from ?? startAt(limit);
    if (from === undefined) yield { batch: emptyBatch, position, total: null };
    const taken = await takenKeys();
    while (position.round <= MOST_ROUNDS) {
      const request = { ascending: true, offset: position.next, limit, signal };
      const page = await readUndegraded(() => readPage(request), sleep, signal);
      const fresh = page.records.filter(({ key }) => isFirst(key, taken));
      position = past(position, page, fresh.length);
      refuseStall(position, taken.size);
      if (fresh.length > 0) yield { batch: batchOf(fresh), position, total: position.totals.end };
      if (page.records.length > 0) continue;
      if (!position.isNew) break;
      position = { ...position, round: position.round + 1, next: 0, isNew: false, idle: 0 };
    }
    const { degraded, totals } = position;
    return { proved: false, totals, order: 'none', missing: [], refused: degraded ? ['degraded'] : [] };
  };
}

function startAt(limit: number): UnorderedPosition {
  const totals = { start: null, end: null };
  return { round: 1, next: 0, isNew: false, smallest: limit, idle: 0, degraded: false, totals };
}

/** The position past a page, `fresh` of whose rows are new; an empty one ends a round and counts for nothing else. */
function past(
  position: UnorderedPosition,
  { records, degraded, total }: SortedPage,
  fresh: number,
): UnorderedPosition {
  const { start, end } = position.totals;
  const told = {
    degraded: position.degraded || degraded,
    totals: { start: start ?? total, end: total ?? end },
  };
  if (records.length === 0) return { ...position, ...told };
  return {
    ...told,
    round: position.round,
    next: position.next + records.length,
    isNew: position.isNew || fresh > 0,
    smallest: Math.min(position.smallest, records.length),
    idle: fresh > 0 ? 0 : position.idle + 1,
  };
}

/** Adds a key; false if it was there. */
function isFirst(key: Id, taken: Set<Id>): boolean {
  if (taken.has(key)) return false;
  taken.add(key);
  return true;
}

/** A platform that sends rows for every offset would never be done. */
function refuseStall({ idle, smallest, next }: UnorderedPosition, taken: number): void {
  if (idle <= IDLE_PAGES + taken / smallest) return;
  throw new ScanError(`the scan came no further: ${idle} pages up to row ${next} brought nothing new`);
}
