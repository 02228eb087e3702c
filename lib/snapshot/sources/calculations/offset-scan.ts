import * as z from 'zod/mini';
import { compareIds, type Id } from '../../../platform/index.ts';
import { provedIf, type Scan, totalsSchema } from '../../scan.ts';
import { readUndegraded } from './degraded-retry.ts';
import type { OffsetPage, ReadOffsetPage } from './pages.ts';
import { createPagesAhead } from './pages-ahead.ts';
import { OrderError, ScanError } from './scan-error.ts';
import { afterPage, NO_TRICKLE, refuseTrickle, type Trickle, trickleSchema } from './trickle.ts';

/*
 * Why nothing is lost. Ids never change and the rows are sorted by id, so a row never moves past another: when rows are
 * deleted, those after them move to lower offsets, and added rows come at the end. Suppose we have taken all rows up to
 * id `last`, and read a page that starts at offset s. If s is 0, there is no row before the page. If the page's first
 * id is not above `last`, every row before it has an even lower id, and was taken or is gone. In both cases the rows of
 * the page above `last` are the very next ones: the seam is proved. If the first id is above `last`, rows in between
 * may have slid below s: step back and read again, twice as far each time, until a page proves the seam or s is 0.
 * A row that exists throughout the scan is not above the highest id at the start: once a proved page reaches that id,
 * all such rows have been taken. If the row with that id is deleted in the meantime, a proved page will at some point
 * add nothing. A short page does not prove the end, since the platform may cap any page, but requesting the highest id
 * again does: if it is not above `last`, nothing is left to take.
 * All that assumes current responses. If both totals are above what was taken, either one was not, or rows that were
 * never taken have been deleted and others added at the end: the scan then reads on to the present end, once, so that
 * its caller can tell the two apart.
 */

export type OffsetScanOptions = {
  readonly readPage: ReadOffsetPage;
  /** How many rows each page requests, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** How many pages are fetched while one is processed; fewer if they are large, as memory holds each. Default 2. */
  readonly pagesAhead?: number;
};

/** How far an offset scan has progressed; plain JSON. */
export type OffsetPosition = {
  /** The highest id at the start of the scan, which must be reached; null if there was none. */
  readonly target: Id | null;
  /** True if the target is the highest id of a later moment, since the totals did not match what was taken. */
  readonly isExtended: boolean;
  /** The offset after the last row read; rows may have slid below it since. */
  readonly next: number;
  readonly stepBack: number;
  /** The highest id taken. */
  readonly last: Id | null;
  /** The number of records taken. */
  readonly taken: number;
  /** The number of rows of the smallest page that was not empty. */
  readonly smallest: number;
  /** The number of pages since one brought something new. */
  readonly idle: number;
  readonly trickle: Trickle;
  /** True if a page stayed degraded. */
  readonly degraded: boolean;
  readonly totals: { readonly start: number | null; readonly end: number | null };
};

export const offsetPosition: z.ZodMiniType<OffsetPosition> = z.object({
  target: z.nullable(z.string()),
  isExtended: z.boolean(),
  next: z.number(),
  stepBack: z.number(),
  last: z.nullable(z.string()),
  taken: z.number(),
  smallest: z.number(),
  idle: z.number(),
  trickle: trickleSchema,
  degraded: z.boolean(),
  totals: totalsSchema,
});

/** What the proof assumes. */
const ASSUMES = ['current-responses'] as const;

const PAGES_AHEAD = 2;

/** As many pages of the last one's size are fetched ahead as fit into this, but at least one. */
const AHEAD_BYTES = 8 * 1024 * 1024;

/** How many pages may bring nothing new, beyond those that reread what was taken, before the scan gives up. */
const IDLE_PAGES = 64;

/** Pages of one row would allow as many as there are rows. */
const MOST_IDLE_PAGES = 100_000;

/** The page with the highest id. It has two rows to show whether the platform respected the descending order at all. */
const TOP = { ascending: false, offset: 0, limit: 2 } as const;

/**
 * Reads all rows in the order of ids, by offset, each page overlapping the last by one row. Throws `OrderError` if the
 * platform contradicts the order, and `ScanError` if the scan makes no progress.
 */
export function offsetScan(options: OffsetScanOptions): Scan<OffsetPosition> {
  const { limit, pagesAhead = PAGES_AHEAD } = options;
  return async function* scan({ from, signal }) {
    const read = withDegradedRetry(options);
    const top = () => read(TOP, signal);
    const ahead = createPagesAhead((offset, stop) => read({ ascending: true, offset, limit }, stop), signal);
    try {
      let position = from ?? startAt(await top(), limit);
      for (;;) {
        refuseStall(position);
        const offset = Math.max(0, position.next - 1 - position.stepBack);
        const page = await ahead.take(offset);
        refuseDisorder(page.keys, { ascending: true, offset });
        position = withReported(position, page);
        if (!isSeamProved(position, page, offset)) {
          position = { ...position, stepBack: Math.max(1, position.stepBack * 2), idle: position.idle + 1 };
          continue;
        }
        const known = knownRows(position, page);
        position = past(position, page, offset, known);
        ahead.plan(offsetsAhead(position, page, pagesAhead));
        if (known < page.keys.length) yield { batch: page.from(known), position, total: position.totals.end };
        let end = position.target;
        if (known === page.keys.length) {
          const now = await top();
          end = highestOf(now);
          // A degraded response may lack the very row that was requested.
          position = { ...position, degraded: position.degraded || now.degraded };
        }
        if (!hasReached(position, end)) continue;
        if (isShort(position)) {
          position = extended(position, await top());
          if (!hasReached(position, position.target)) continue;
        }
        const { degraded, totals } = position;
        return {
          ...provedIf(!degraded, ASSUMES),
          totals,
          order: 'id',
          refused: degraded ? ['degraded'] : [],
        };
      }
    } finally {
      ahead.stop();
    }
  };
}

/** Where the pages after a proved one will most likely start: each a stride, its rows but one, after the one before. */
function offsetsAhead(
  position: OffsetPosition,
  { keys, sizeBytes }: OffsetPage,
  most: number,
): readonly number[] {
  const { next, target, totals } = position;
  const stride = keys.length - 1;
  if (stride < 1 || target === null || hasReached(position, target)) return [];
  const pages = Math.min(most, Math.max(1, Math.floor(AHEAD_BYTES / sizeBytes)));
  const offsets = Array.from({ length: pages }, (_, index) => next - 1 + index * stride);
  // Beyond the reported total pages are most likely empty. If the total is wrong, a page is merely fetched later.
  return offsets.filter((offset) => totals.end === null || offset + 1 < totals.end);
}

function startAt(top: OffsetPage, limit: number): OffsetPosition {
  const totals = { start: top.total, end: top.total };
  const target = highestOf(top);
  const { degraded } = top;
  const counts = {
    next: 0,
    stepBack: 0,
    last: null,
    taken: 0,
    smallest: limit,
    idle: 0,
    trickle: NO_TRICKLE,
  };
  return { target, isExtended: false, ...counts, degraded, totals };
}

/** The position with what a page reports about the whole, whether or not its seam is proved. */
function withReported(position: OffsetPosition, { degraded, total }: OffsetPage): OffsetPosition {
  const totals = { ...position.totals, end: total ?? position.totals.end };
  return { ...position, degraded: position.degraded || degraded, totals };
}

function isSeamProved({ last }: OffsetPosition, { keys }: OffsetPage, offset: number): boolean {
  const first = keys[0];
  return offset === 0 || (first !== undefined && last !== null && compareIds(first, last) <= 0);
}

/** How many rows at the start of a proved page were already taken. */
function knownRows({ last }: OffsetPosition, { keys }: OffsetPage): number {
  if (last === null) return 0;
  const fresh = keys.findIndex((key) => compareIds(key, last) > 0);
  return fresh < 0 ? keys.length : fresh;
}

/** The position after a proved page. */
function past(position: OffsetPosition, { keys }: OffsetPage, offset: number, known: number): OffsetPosition {
  const fresh = keys.length - known;
  return {
    ...position,
    next: offset + keys.length,
    stepBack: 0,
    last: fresh > 0 ? (keys.at(-1) ?? position.last) : position.last,
    taken: position.taken + fresh,
    smallest: Math.min(position.smallest, Math.max(1, keys.length)),
    idle: fresh > 0 ? 0 : position.idle + 1,
    trickle: afterPage(position.trickle, keys.length, fresh),
  };
}

/** True if nothing up to `end` is left to take. `end` is the id to reach, or null if the platform has no rows. */
function hasReached({ last, idle }: OffsetPosition, end: Id | null): boolean {
  if (end === null) return idle > 0;
  return last !== null && compareIds(last, end) >= 0;
}

/** True if both totals are above what was taken, for the first time. */
const isShort = ({ isExtended, totals: { start, end }, taken }: OffsetPosition): boolean =>
  !isExtended && start !== null && end !== null && taken < Math.min(start, end);

/** The position with the present highest id as its target. */
function extended(position: OffsetPosition, top: OffsetPage): OffsetPosition {
  return { ...withReported(position, top), target: highestOf(top), isExtended: true };
}

/** Bounds the requests: rereading everything after a step back is allowed, looping forever is not. */
function refuseStall({ idle, taken, smallest, next, trickle }: OffsetPosition): void {
  refuseTrickle(trickle, next);
  if (idle <= Math.min(MOST_IDLE_PAGES, IDLE_PAGES + taken / Math.max(1, smallest - 1))) return;
  throw new ScanError(`the scan made no progress: ${idle} pages up to row ${next} brought nothing new`);
}

function highestOf({ keys }: OffsetPage): Id | null {
  refuseDisorder(keys, TOP);
  return keys[0] ?? null;
}

type Order = { readonly ascending: boolean; readonly offset: number };

function refuseDisorder(keys: readonly Id[], { ascending, offset }: Order): void {
  const sign = ascending ? 1 : -1;
  const at = keys.findIndex((key, index) => {
    const before = keys[index - 1];
    return before !== undefined && sign * compareIds(before, key) >= 0;
  });
  if (at < 0) return;
  const order = ascending ? 'ascending' : 'descending';
  const where = `${keys[at]} came after ${keys[at - 1]} at row ${offset + at}`;
  throw new OrderError(`the platform did not keep to the ${order} order of ids: ${where}`);
}

function withDegradedRetry({ readPage, sleep }: OffsetScanOptions) {
  return (request: Omit<Parameters<ReadOffsetPage>[0], 'signal'>, signal: AbortSignal | undefined) =>
    readUndegraded(() => readPage({ ...request, signal }), sleep, signal);
}
