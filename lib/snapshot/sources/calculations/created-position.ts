import * as z from 'zod/mini';
import type { Id } from '../../../platform/index.ts';
import { totalsSchema } from '../../scan.ts';
import type { SortedRow } from './sorted-pages.ts';
import { afterPage, type Trickle, trickleSchema } from './trickle.ts';

/** A row with the time of its creation, in epoch milliseconds. */
export type CreatedRow = SortedRow & { readonly created: number };

/** How far a scan by creation time has progressed; plain JSON. */
export type CreatedPosition = {
  /** The highest time at the start of the scan, which must be passed; null if it could not be determined. */
  readonly target: number | null;
  /** Where the next page starts: as far as is known, at a row below `last`; rows may have slid below it since. */
  readonly next: number;
  readonly stepBack: number;
  /** The highest time taken, and all ids taken with that time. */
  readonly last: { readonly created: number; readonly ids: readonly Id[] } | null;
  /** How many pages in a row began as late as they could and still did not get past `last`. */
  readonly tries: number;
  /** The last time shared by more records than a page holds; null if there is none. Such a run is not proved. */
  readonly tooMany: number | null;
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

export const createdPosition: z.ZodMiniType<CreatedPosition> = z.object({
  target: z.nullable(z.number()),
  next: z.number(),
  stepBack: z.number(),
  last: z.nullable(z.object({ created: z.number(), ids: z.array(z.string()) })),
  tries: z.number(),
  tooMany: z.nullable(z.number()),
  taken: z.number(),
  smallest: z.number(),
  idle: z.number(),
  trickle: trickleSchema,
  degraded: z.boolean(),
  totals: totalsSchema,
});

/** After this many pages that do not get past a time, it is assumed to have more records than fit in a page. */
const MOST_TRIES = 3;

/** True while the scan reads rows of a time that no page can prove. */
const isUnprovable = ({ last, tooMany }: CreatedPosition) => last !== null && tooMany === last.created;

/** True if nothing is lost before a page that starts at `offset`; if no page can prove it, an overlap must suffice. */
export function isSeamProved(
  position: CreatedPosition,
  rows: readonly CreatedRow[],
  offset: number,
): boolean {
  const { last } = position;
  const first = rows[0]?.created;
  if (offset === 0) return true;
  if (first === undefined || last === null) return false;
  return first < last.created || (first === last.created && isUnprovable(position));
}

/** The rows that were not taken before: all later ones, and those of the last time with new ids. */
export function freshRows({ last }: CreatedPosition, rows: readonly CreatedRow[]): readonly CreatedRow[] {
  if (last === null) return rows;
  const known = new Set(last.ids);
  return rows.filter(
    ({ key, created }) => created > last.created || (created === last.created && !known.has(key)),
  );
}

/** The position after the fresh rows are taken; they are in ascending order. */
export function withTaken(position: CreatedPosition, fresh: readonly CreatedRow[]): CreatedPosition {
  const created = fresh.at(-1)?.created;
  if (created === undefined) return { ...position, idle: position.idle + 1 };
  const before = position.last?.created === created ? position.last.ids : [];
  const ids = fresh.filter((row) => row.created === created).map(({ key }) => key);
  const last = { created, ids: [...before, ...ids] };
  return { ...position, last, taken: position.taken + fresh.length, idle: 0 };
}

/** The position after a proved page whose fresh rows are taken. `before` is the position before the page was read. */
export function pastPage(
  position: CreatedPosition,
  { before, rows, offset }: { before: CreatedPosition; rows: readonly CreatedRow[]; offset: number },
): CreatedPosition {
  const { last } = position;
  const below = rows.findLastIndex(({ created }) => last !== null && created < last.created);
  const lastRow = Math.max(0, rows.length - 1);
  const next = offset + (isUnprovable(position) ? lastRow : Math.max(0, below));
  // The page began at the last row below a time, or at the very first row, and did not reach the end of that time.
  const isStuck =
    next === offset && last !== null && last.created === before.last?.created && below < lastRow;
  const smallest = Math.min(position.smallest, Math.max(1, rows.length));
  const trickle = afterPage(position.trickle, rows.length, position.taken - before.taken);
  return { ...position, next, stepBack: 0, tries: isStuck ? position.tries + 1 : 0, smallest, trickle };
}

/** The position a step further back, twice as far each time. */
export const steppedBack = (position: CreatedPosition): CreatedPosition => ({
  ...position,
  stepBack: Math.max(1, position.stepBack * 2),
  idle: position.idle + 1,
});

/** The position, without hope of a proof if page after page got no further. */
export function withoutProofIfStuck(position: CreatedPosition): CreatedPosition {
  const { tries, last } = position;
  return tries < MOST_TRIES || last === null ? position : { ...position, tooMany: last.created, tries: 0 };
}

/** True if an unprovable time ends with this page: it brought nothing but the row that it overlaps by. */
export function isWalkedThrough(position: CreatedPosition, rows: readonly CreatedRow[]): boolean {
  return isUnprovable(position) && position.idle > 0 && rows.length <= 1;
}
