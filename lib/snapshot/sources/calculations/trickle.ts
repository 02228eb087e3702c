import * as z from 'zod/mini';
import { PlatformError } from '../../../platform/index.ts';
import { searchCalculations } from '../../../platform/operations/search-calculations.ts';
import { ScanError } from './scan-error.ts';

/**
 * Whether a scan has come to the end of the list and follows rows as they are added, instead of ending: the row that it
 * must reach was shown once and is never sent. `pages`: how many pages in a row brought only a few new rows, where
 * earlier ones had many. `read`: how many there were in all.
 */
export type Trickle = {
  readonly largest: number;
  readonly pages: number;
  readonly read: number;
};

export const trickleSchema: z.ZodMiniType<Trickle> = z.object({
  largest: z.number(),
  pages: z.number(),
  read: z.number(),
});

/** Before the first page. */
export const NO_TRICKLE: Trickle = { largest: 0, pages: 0, read: 0 };

/** A page with so few new rows is most likely the list's last one, if there has been a page of so many. */
const FEW_ROWS = 16;
const MANY_ROWS = 64;

/** A platform that sends many rows at first and then 16 at a time would have 4,000 more read before it is refused. */
const MOST_PAGES = 256;

/** The trickle after a page of `rows` rows, of which `fresh` are new. A page that brings nothing new is not part of it. */
export function afterPage(trickle: Trickle, rows: number, fresh: number): Trickle {
  const largest = Math.max(trickle.largest, rows);
  const isFew = fresh <= FEW_ROWS && largest >= MANY_ROWS;
  const pages = fresh === 0 ? trickle.pages : isFew ? trickle.pages + 1 : 0;
  return { largest, pages, read: trickle.read + 1 };
}

/** More pages than any real list has, also if the platform sends few rows a page: 14 hours at two a second. */
const MOST_READ = 100_000;

/**
 * Throws `ScanError` if the scan would most likely never end, and `PlatformError` of kind `endless` after so many pages
 * that no other read would end either.
 */
export function refuseTrickle(trickle: Trickle, next: number): void {
  if (trickle.read >= MOST_READ) throw endless(trickle.read);
  if (trickle.pages <= MOST_PAGES) return;
  throw new ScanError(
    `the scan made no progress: ${trickle.pages} pages up to row ${next} brought at most ${FEW_ROWS} new rows each, and none the last one`,
  );
}

const endless = (pages: number) =>
  new PlatformError(
    { kind: 'endless', pages },
    { operation: searchCalculations.name, about: 'calculations', attempts: 1 },
  );
