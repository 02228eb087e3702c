import type { Id } from '../platform/id.ts';
import { readUndegraded } from './degraded-retry.ts';
import { ScanError } from './offset-scan.ts';
import { batchOf } from './record-batch.ts';
import type { Scan } from './scan.ts';
import type { ReadSortedPage } from './sorted-pages.ts';

/*
 * Without an order nothing tells a lost row from one that never was. So the rows are read from the first to an empty
 * page, each id is kept once, and that is done again until a round brings nothing new: what slid past in one round,
 * since rows were deleted or came in another order, shows in the next. It is a best effort and no proof.
 */

export type UnorderedScanOptions = {
  readonly readPage: ReadSortedPage;
  /**
   * Ids that were yielded before; those that this scan yields are added. It holds every id of the source: memory
   * grows with them, which is the price of keeping each once without an order.
   */
  readonly taken: Set<Id>;
  /** Rows a page asks for, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** How far an unordered scan has come. It cannot be gone on with: the ids that were taken are not in it. */
export type UnorderedPosition = {
  /** How often all rows were begun to be read; 1 is the first time. */
  readonly round: number;
  /** The offset after the last row read. */
  readonly next: number;
};

/** Rounds at most, on a platform that has something new in each of them. */
const MOST_ROUNDS = 4;

/** Pages that may bring nothing new, beyond those that read again what was taken, before the scan is given up. */
const IDLE_PAGES = 64;

/**
 * Reads all rows in whatever order they come, each id once; its outcome is never proved. Throws `ScanError` where it
 * comes no further, and where it is to go on from a position.
 */
export function unorderedScan({
  readPage,
  taken,
  limit,
  sleep,
}: UnorderedScanOptions): Scan<UnorderedPosition> {
  return async function* scan({ from, signal }) {
    if (from !== undefined) throw cannotGoOn();
    const totals: { start: number | null; end: number | null } = { start: null, end: null };
    let degraded = false;
    let smallest = limit;
    for (let [round, isNew] = [1, true]; isNew && round <= MOST_ROUNDS; round += 1) {
      isNew = false;
      for (let [offset, idle] = [0, 0]; ; ) {
        const request = { ascending: true, offset, limit, signal };
        const page = await readUndegraded(() => readPage(request), sleep, signal);
        degraded ||= page.degraded;
        totals.start ??= page.total;
        totals.end = page.total ?? totals.end;
        if (page.records.length === 0) break;
        offset += page.records.length;
        smallest = Math.min(smallest, page.records.length);
        const records = page.records.filter(({ key }) => isFirst(key, taken));
        idle = records.length > 0 ? 0 : idle + 1;
        refuseStall(idle, IDLE_PAGES + taken.size / smallest, offset);
        if (records.length === 0) continue;
        isNew = true;
        yield { batch: batchOf(records), position: { round, next: offset }, total: totals.end };
      }
    }
    return { proved: false, totals, order: 'none', missing: [], refused: degraded ? ['degraded'] : [] };
  };
}

/** The error for a run that has lost the order, and with it what earlier processes took. */
export function cannotGoOn(cause?: unknown): ScanError {
  const why = 'the platform did not keep the order, and what was taken before is not known any more';
  return new ScanError(`the run cannot be gone on with and must be started anew: ${why}`, { cause });
}

/** Adds a key; false if it was there. */
function isFirst(key: Id, taken: Set<Id>): boolean {
  if (taken.has(key)) return false;
  taken.add(key);
  return true;
}

/** A platform that sends rows for every offset would never be done. */
function refuseStall(idle: number, most: number, offset: number): void {
  if (idle <= most) return;
  throw new ScanError(`the scan came no further: ${idle} pages up to row ${offset} brought nothing new`);
}
