import * as z from 'zod/mini';
import { compareIds, type Id } from '../../../platform/index.ts';
import { provedIf, type Scan } from '../../scan.ts';
import type { CalculationPage, ReadPage } from './pages.ts';
import { createPagesAhead } from './pages-ahead.ts';
import {
  counted,
  NO_PROGRESS,
  outcomeOf,
  progressSchema,
  refuseDisorder,
  refuseStall,
  steppedBack,
  withReported,
} from './progress.ts';

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
  /** Pages in the order of `id`. */
  readonly readPage: ReadPage;
  /** How many rows each page requests, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
  /** How many pages are fetched while one is processed; fewer if they are large, as memory holds each. Default 2. */
  readonly pagesAhead?: number;
};

/** How far a scan by id has progressed; plain JSON. */
export const offsetPosition = z.extend(progressSchema, {
  /** The highest id at the start of the scan, which must be reached; null if there was none. */
  target: z.nullable(z.string()),
  /** True if the target is the highest id of a later moment, since the totals did not match what was taken. */
  isExtended: z.boolean(),
  stepBack: z.number(),
  /** The highest id taken. */
  last: z.nullable(z.string()),
  /** The number of records taken. */
  taken: z.number(),
});

export type OffsetPosition = z.infer<typeof offsetPosition>;

const START: OffsetPosition = {
  ...NO_PROGRESS,
  target: null,
  isExtended: false,
  stepBack: 0,
  last: null,
  taken: 0,
};

/** What is proved, and what the proof assumes. */
const CLAIM = provedIf(true, ['current-responses']);

const PAGES_AHEAD = 2;

/** As many pages of the last one's size are fetched ahead as fit into this, but at least one. */
const AHEAD_BYTES = 8 * 1024 * 1024;

/** The page with the highest id. It has two rows to show whether the platform respected the descending order at all. */
const TOP = { ascending: false, offset: 0, limit: 2 } as const;

/**
 * Reads all rows in the order of ids, by offset, each page overlapping the last by one row. Throws `OrderError` if the
 * platform contradicts the order, and `ScanError` if the scan makes no progress.
 */
export function offsetScan({
  readPage,
  limit,
  pagesAhead = PAGES_AHEAD,
}: OffsetScanOptions): Scan<OffsetPosition> {
  return async function* scan({ from, signal }) {
    const top = () => readPage({ ...TOP, signal });
    const ahead = createPagesAhead(
      (offset, stop) => readPage({ ascending: true, offset, limit, signal: stop }),
      signal,
    );
    try {
      let position = from ?? withTarget(START, await top());
      for (;;) {
        refuseStall(position);
        const offset = Math.max(0, position.next - 1 - position.stepBack);
        const page = await ahead.take(offset);
        refuseDisorder(page.keys, { ascending: true, offset }, BY_ID);
        position = withReported(position, page);
        if (!isSeamProved(position, page, offset)) {
          position = steppedBack(position);
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
          position = { ...withTarget(position, await top()), isExtended: true };
          if (!hasReached(position, position.target)) continue;
        }
        return outcomeOf(position, 'id', CLAIM);
      }
    } finally {
      ahead.stop();
    }
  };
}

/** Where the pages after a proved one will most likely start: each a stride, its rows but one, after the one before. */
function offsetsAhead(
  position: OffsetPosition,
  { keys, sizeBytes }: CalculationPage,
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

/** The position with the highest id of this moment as its target. */
const withTarget = (position: OffsetPosition, top: CalculationPage): OffsetPosition => ({
  ...withReported(position, top),
  target: highestOf(top),
});

function isSeamProved({ last }: OffsetPosition, { keys }: CalculationPage, offset: number): boolean {
  const first = keys[0];
  return offset === 0 || (first !== undefined && last !== null && compareIds(first, last) <= 0);
}

/** How many rows at the start of a proved page were already taken. */
function knownRows({ last }: OffsetPosition, { keys }: CalculationPage): number {
  if (last === null) return 0;
  const fresh = keys.findIndex((key) => compareIds(key, last) > 0);
  return fresh < 0 ? keys.length : fresh;
}

/** The position after a proved page. */
function past(
  position: OffsetPosition,
  { keys }: CalculationPage,
  offset: number,
  known: number,
): OffsetPosition {
  const fresh = keys.length - known;
  return {
    ...counted(position, fresh),
    next: offset + keys.length,
    stepBack: 0,
    last: fresh > 0 ? (keys.at(-1) ?? position.last) : position.last,
    taken: position.taken + fresh,
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

function highestOf({ keys }: CalculationPage): Id | null {
  refuseDisorder(keys, TOP, BY_ID);
  return keys[0] ?? null;
}

const BY_ID = { of: 'ids', mayFollow: (id: Id, before: Id) => compareIds(before, id) < 0 };
