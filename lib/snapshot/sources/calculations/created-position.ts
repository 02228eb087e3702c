import * as z from 'zod/mini';
import type { Id } from '../../../platform/id.ts';
import type { ScannedRecord } from '../../page/scanned-record.ts';
import { totalsSchema } from '../../scan.ts';

/** A row with the time of its creation, in epoch milliseconds. */
export type CreatedRow = { readonly record: ScannedRecord; readonly created: number };

/** How far a scan by creation time has come; plain JSON. */
export type CreatedPosition = {
  /** The highest time that there was at the start, which is to be passed; null if that could not be told. */
  readonly target: number | null;
  /** Where the next page starts: at a row below `last`, as far as is known; rows may have slid below it since. */
  readonly next: number;
  readonly stepBack: number;
  /** The highest time taken, and the ids taken that have it: as many as records may share one time. */
  readonly last: { readonly created: number; readonly ids: readonly Id[] } | null;
  /** Pages in a row that began as far on as they could, and got no further than `last`. */
  readonly tries: number;
  /** The last time that more records share than a page holds; null if none does. Such a run is not proved. */
  readonly tooMany: number | null;
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
  degraded: z.boolean(),
  totals: totalsSchema,
});

/** Pages that get no further than one time before it is held to have more records than a page. */
const MOST_TRIES = 3;

/** True while rows of a time are walked through that no page can prove. */
const isUnprovable = ({ last, tooMany }: CreatedPosition) => last !== null && tooMany === last.created;

/** True if nothing is lost before a page that starts at `offset`; where nothing can prove it, an overlap has to do. */
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

/** The rows that were not taken before: all later ones, and of the last time those with another id. */
export function freshRows({ last }: CreatedPosition, rows: readonly CreatedRow[]): readonly CreatedRow[] {
  if (last === null) return rows;
  const known = new Set(last.ids);
  return rows.filter(
    ({ record, created }) => created > last.created || (created === last.created && !known.has(record.key)),
  );
}

/** The position with fresh rows taken; they ascend. */
export function withTaken(position: CreatedPosition, fresh: readonly CreatedRow[]): CreatedPosition {
  const created = fresh.at(-1)?.created;
  if (created === undefined) return { ...position, idle: position.idle + 1 };
  const before = position.last?.created === created ? position.last.ids : [];
  const ids = fresh.filter((row) => row.created === created).map(({ record }) => record.key);
  const last = { created, ids: [...before, ...ids] };
  return { ...position, last, taken: position.taken + fresh.length, idle: 0 };
}

/** The position past a proved page whose fresh rows are taken. `before`: the position that the page was asked from. */
export function pastPage(
  position: CreatedPosition,
  { before, rows, offset }: { before: CreatedPosition; rows: readonly CreatedRow[]; offset: number },
): CreatedPosition {
  const { last } = position;
  const below = rows.findLastIndex(({ created }) => last !== null && created < last.created);
  const lastRow = Math.max(0, rows.length - 1);
  const next = offset + (isUnprovable(position) ? lastRow : Math.max(0, below));
  // The page began at the last row below a time, or at the first of all, and did not reach the end of that time.
  const isStuck =
    next === offset && last !== null && last.created === before.last?.created && below < lastRow;
  const smallest = Math.min(position.smallest, Math.max(1, rows.length));
  return { ...position, next, stepBack: 0, tries: isStuck ? position.tries + 1 : 0, smallest };
}

/** The position further back, twice as far each time. */
export const steppedBack = (position: CreatedPosition): CreatedPosition => ({
  ...position,
  stepBack: Math.max(1, position.stepBack * 2),
  idle: position.idle + 1,
});

/** The position that gives up the proof where page after page got no further. */
export function givenUpProof(position: CreatedPosition): CreatedPosition {
  const { tries, last } = position;
  return tries < MOST_TRIES || last === null ? position : { ...position, tooMany: last.created, tries: 0 };
}

/** True if a page of an unprovable walk is its end: nothing came but the row that it overlaps by. */
export function isWalkedThrough(position: CreatedPosition, rows: readonly CreatedRow[]): boolean {
  return isUnprovable(position) && position.idle > 0 && rows.length <= 1;
}
