import * as z from 'zod/mini';
import { ScanError } from './scan-error.ts';

/**
 * Whether a scan has come to the end of the list and follows rows as they are added, instead of ending: the row that it
 * must reach was shown once and is never sent. `pages`: how many pages in a row brought only a few new rows, where
 * earlier ones had many.
 */
export type Trickle = { readonly largest: number; readonly pages: number };

/** Absent in positions of earlier versions. */
export const trickleSchema: z.ZodMiniType<Trickle | undefined> = z.optional(
  z.object({ largest: z.number(), pages: z.number() }),
);

/** A page with so few new rows is most likely the list's last one, if there has been a page of so many. */
const FEW_ROWS = 16;
const MANY_ROWS = 64;

/** A platform that sends many rows at first and then 16 at a time would have 4,000 more read before it is refused. */
const MOST_PAGES = 256;

/** The trickle after a page of `rows` rows, of which `fresh` are new. A page that brings nothing new is not part of it. */
export function afterPage(trickle: Trickle | undefined, rows: number, fresh: number): Trickle {
  const largest = Math.max(trickle?.largest ?? 0, rows);
  const pages = trickle?.pages ?? 0;
  if (fresh === 0) return { largest, pages };
  return { largest, pages: fresh <= FEW_ROWS && largest >= MANY_ROWS ? pages + 1 : 0 };
}

/** Throws `ScanError` if the scan would most likely never end. */
export function refuseTrickle(trickle: Trickle | undefined, next: number): void {
  if (trickle === undefined || trickle.pages <= MOST_PAGES) return;
  throw new ScanError(
    `the scan made no progress: ${trickle.pages} pages up to row ${next} brought at most ${FEW_ROWS} new rows each, and none the last one`,
  );
}
