import * as z from 'zod/mini';
import type { Id } from '../../../platform/index.ts';
import { emptyBatch } from '../../page/record-batch.ts';
import { type Scan, totalsSchema } from '../../scan.ts';
import { readUndegraded } from './degraded-retry.ts';
import { ScanError } from './scan-error.ts';
import { batchOfRows, type ReadSortedPage, type SortedPage } from './sorted-pages.ts';
import { afterPage, NO_TRICKLE, refuseTrickle, type Trickle, trickleSchema } from './trickle.ts';

/*
 * Without an order, a lost row looks the same as one that never existed. So the rows are read from the first to an
 * empty page, each id is taken once, and that is repeated until a round brings nothing new: a row missed in one round,
 * because rows were deleted or came in another order, shows up in the next. This is a best effort and not a proof.
 */

export type UnorderedScanOptions = {
  readonly readPage: ReadSortedPage;
  /** How many rows each page requests, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** How far an unordered scan has progressed; plain JSON. The rows taken are not in it, but in the parts of the run. */
export type UnorderedPosition = {
  /** The number of the round, in which all rows are read; 1 is the first. */
  readonly round: number;
  /** The offset after the last row read. */
  readonly next: number;
  /** True if the round has brought something new. */
  readonly isNew: boolean;
  /** The number of rows of the smallest page that was not empty. */
  readonly smallest: number;
  /** The number of pages of the round since one brought something new. */
  readonly idle: number;
  readonly trickle: Trickle;
  /** True if a page stayed degraded. */
  readonly degraded: boolean;
  readonly totals: { readonly start: number | null; readonly end: number | null };
};

export const unorderedPosition: z.ZodMiniType<UnorderedPosition> = z.object({
  round: z.number(),
  next: z.number(),
  isNew: z.boolean(),
  smallest: z.number(),
  idle: z.number(),
  trickle: trickleSchema,
  degraded: z.boolean(),
  totals: totalsSchema,
});

/** The most rounds, for a platform that has something new in each of them. */
const MOST_ROUNDS = 4;

/** How many pages may bring nothing new, beyond those that reread what was taken, before the scan gives up. */
const IDLE_PAGES = 64;

/**
 * Reads all rows in whatever order they come, except those that the run has already taken, each id once; its outcome is
 * never proved. Memory holds every id of the source: without an order there is no other way to take each one once. The
 * first step yields only a position: wherever the run is stopped after that, it resumes without an order. Throws
 * `ScanError` if the scan makes no progress.
 */
export function unorderedScan({ readPage, limit, sleep }: UnorderedScanOptions): Scan<UnorderedPosition> {
  return async function* scan({ from, signal, takenKeys }) {
    let position = from ?? startAt(limit);
    if (from === undefined) yield { batch: emptyBatch, position, total: null };
    const taken = new Set<Id>();
    for await (const keys of takenKeys()) for (const key of keys) taken.add(key);
    while (position.round <= MOST_ROUNDS) {
      const request = { ascending: true, offset: position.next, limit, signal };
      const page = await readUndegraded(() => readPage(request), sleep, signal);
      const fresh = page.rows.filter(({ key }) => isFirst(key, taken));
      position = past(position, page, fresh.length);
      refuseStall(position, taken.size);
      if (fresh.length > 0) yield { batch: batchOfRows(fresh), position, total: position.totals.end };
      if (page.rows.length > 0) continue;
      if (!position.isNew) break;
      position = { ...position, round: position.round + 1, next: 0, isNew: false, idle: 0 };
    }
    const { degraded, totals } = position;
    const refused = degraded ? (['degraded'] as const) : [];
    return { consistency: 'best-effort', assumes: [], totals, order: 'none', refused };
  };
}

function startAt(limit: number): UnorderedPosition {
  const totals = { start: null, end: null };
  return {
    round: 1,
    next: 0,
    isNew: false,
    smallest: limit,
    idle: 0,
    trickle: NO_TRICKLE,
    degraded: false,
    totals,
  };
}

/** The position after a page with `fresh` new rows. An empty page ends a round and is otherwise ignored. */
function past(
  position: UnorderedPosition,
  { rows, degraded, total }: SortedPage,
  fresh: number,
): UnorderedPosition {
  const { start, end } = position.totals;
  const reported = {
    degraded: position.degraded || degraded,
    totals: { start: start ?? total, end: total ?? end },
  };
  if (rows.length === 0) return { ...position, ...reported };
  return {
    ...reported,
    round: position.round,
    next: position.next + rows.length,
    isNew: position.isNew || fresh > 0,
    smallest: Math.min(position.smallest, rows.length),
    idle: fresh > 0 ? 0 : position.idle + 1,
    trickle: afterPage(position.trickle, rows.length, fresh),
  };
}

/** Adds a key; false if it was already there. */
function isFirst(key: Id, taken: Set<Id>): boolean {
  if (taken.has(key)) return false;
  taken.add(key);
  return true;
}

/** A scan of a platform that sends rows for every offset would never end. */
function refuseStall({ idle, smallest, next, trickle }: UnorderedPosition, taken: number): void {
  refuseTrickle(trickle, next);
  if (idle <= IDLE_PAGES + taken / smallest) return;
  throw new ScanError(`the scan made no progress: ${idle} pages up to row ${next} brought nothing new`);
}
