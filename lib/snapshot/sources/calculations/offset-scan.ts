import * as z from 'zod/mini';
import { compareIds, type Id } from '../../../platform/id.ts';
import { type Scan, totalsSchema } from '../../scan.ts';
import { readUndegraded } from './degraded-retry.ts';
import type { OffsetPage, ReadOffsetPage } from './pages.ts';
import { createPagesAhead } from './pages-ahead.ts';

/*
 * Why nothing is lost. Ids are fixed and the order is theirs, so a row never moves past another: while rows are
 * deleted, what follows them moves to lower offsets, and what is added comes at the end. Say we have taken all rows up
 * to id `last`, and read a page that starts at offset s. If s is 0, no row lies before the page. If the page's first
 * id is not above `last`, every row before it has a lower id still, and was taken or is gone. In both cases the rows
 * of the page above `last` are the very next ones: the seam is proved. If the first id is above `last`, rows between
 * may have slid below s: step back and read again, twice as far each time, until a page proves it or s is 0.
 * A row that lives through the whole scan is not above the highest id that there was at the start: once a proved page
 * reaches that, all of them have been taken. If that row was deleted meanwhile, a proved page will one day add nothing;
 * a short page does not tell the end, since the platform may cap any page, but the highest id asked anew does: if it is
 * not above `last`, nothing is left to take.
 */

export type OffsetScanOptions = {
  readonly readPage: ReadOffsetPage;
  /** Rows a page asks for, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Pages that are fetched while one is dealt with; each is held in memory, so fewer if they are large. Default 2. */
  readonly pagesAhead?: number;
};

/** The order that was asked for was not kept, or the scan came no further: what was read cannot be called complete. */
export class ScanError extends Error {
  override readonly name = 'ScanError';
}

/** An answer contradicts the order that was asked for: the rows may be read all the same, in no order. */
export class OrderError extends ScanError {}

/** How far an offset scan has come; plain JSON. */
export type OffsetPosition = {
  /** The highest id that there was at the start, which is to be reached; null if there was none. */
  readonly target: Id | null;
  /** The offset after the last row read; rows may have slid below it since. */
  readonly next: number;
  readonly stepBack: number;
  /** The highest id taken. */
  readonly last: Id | null;
  /** Records taken. */
  readonly taken: number;
  /** Rows of the smallest page that had any. */
  readonly smallest: number;
  /** Pages since one brought something new. */
  readonly idle: number;
  /** True if a page was degraded and stayed so. */
  readonly degraded: boolean;
  readonly totals: { readonly start: number | null; readonly end: number | null };
};

export const offsetPosition: z.ZodMiniType<OffsetPosition> = z.object({
  target: z.nullable(z.string()),
  next: z.number(),
  stepBack: z.number(),
  last: z.nullable(z.string()),
  taken: z.number(),
  smallest: z.number(),
  idle: z.number(),
  degraded: z.boolean(),
  totals: totalsSchema,
});

const PAGES_AHEAD = 2;

/** Of pages as large as the last one, as many are fetched ahead as fit in this, and at least one. */
const AHEAD_BYTES = 8 * 1024 * 1024;

/** Pages that may bring nothing new, beyond those that read again what was taken, before the scan is given up. */
const IDLE_PAGES = 64;

/** Where the highest id stands. Of two rows one can tell whether the platform kept the descending order at all. */
const TOP = { ascending: false, offset: 0, limit: 2 } as const;

/**
 * Reads all rows in the order of ids, by offset, each page overlapping the last by one row. Throws `ScanError` where
 * the platform contradicts the order, or where the scan comes no further.
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
        position = noted(position, page);
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
          // A degraded answer may lack the very row that is asked for.
          position = { ...position, degraded: position.degraded || now.degraded };
        }
        if (!hasReached(position, end)) continue;
        const { degraded, totals } = position;
        return { proved: !degraded, totals, order: 'id', missing: [], refused: degraded ? ['degraded'] : [] };
      }
    } finally {
      ahead.stop();
    }
  };
}

/** Where the pages after a proved one will most likely start: each at the last row of the one before, by its stride. */
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
  // What lies behind the told total would most likely be empty. It is a hint: a page not fetched early is fetched late.
  return offsets.filter((offset) => totals.end === null || offset + 1 < totals.end);
}

function startAt(top: OffsetPage, limit: number): OffsetPosition {
  const totals = { start: top.total, end: top.total };
  const target = highestOf(top);
  const { degraded } = top;
  return { target, next: 0, stepBack: 0, last: null, taken: 0, smallest: limit, idle: 0, degraded, totals };
}

/** The position with what a page tells of the whole, whether or not its seam is proved. */
function noted(position: OffsetPosition, { degraded, total }: OffsetPage): OffsetPosition {
  const totals = { ...position.totals, end: total ?? position.totals.end };
  return { ...position, degraded: position.degraded || degraded, totals };
}

function isSeamProved({ last }: OffsetPosition, { keys }: OffsetPage, offset: number): boolean {
  const first = keys[0];
  return offset === 0 || (first !== undefined && last !== null && compareIds(first, last) <= 0);
}

/** How many rows at the start of a proved page were taken before. */
function knownRows({ last }: OffsetPosition, { keys }: OffsetPage): number {
  if (last === null) return 0;
  const fresh = keys.findIndex((key) => compareIds(key, last) > 0);
  return fresh < 0 ? keys.length : fresh;
}

/** The position past a proved page. */
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
  };
}

/** True if nothing up to `end` is left to take: the id to reach, or null where the platform has none. */
function hasReached({ last, idle }: OffsetPosition, end: Id | null): boolean {
  if (end === null) return idle > 0;
  return last !== null && compareIds(last, end) >= 0;
}

/** Bounds the requests: reading all again after a step back is allowed, going round for ever is not. */
function refuseStall({ idle, taken, smallest, next }: OffsetPosition): void {
  if (idle <= IDLE_PAGES + taken / Math.max(1, smallest - 1)) return;
  throw new ScanError(`the scan came no further: ${idle} pages up to row ${next} brought nothing new`);
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
  throw new OrderError(`the platform did not keep the ${order} order of ids: ${where}`);
}

function withDegradedRetry({ readPage, sleep }: OffsetScanOptions) {
  return (request: Omit<Parameters<ReadOffsetPage>[0], 'signal'>, signal: AbortSignal | undefined) =>
    readUndegraded(() => readPage({ ...request, signal }), sleep, signal);
}
