import * as z from 'zod/mini';
import type { Id } from '../../../platform/index.ts';
import { emptyBatch, type RecordBatch } from '../../page/record-batch.ts';
import { provedIf, type Scan } from '../../scan.ts';
import type { CalculationPage, PageRequest, ReadPage } from './pages.ts';
import {
  counted,
  NO_PROGRESS,
  OrderError,
  outcomeOf,
  progressSchema,
  refuseDisorder,
  refuseStall,
  steppedBack,
  withReported,
} from './progress.ts';

/*
 * Why nothing is lost. The time of creation never changes, and added rows get the highest. But many rows may share one
 * time, and their order may differ from page to page. So only what a single page shows by itself counts.
 * Suppose all rows below the time `last` were taken, and of those at `last` the ones whose ids we hold. Before a page
 * that starts at offset 0, or with a row **below** `last`, there are only rows below `last`: taken, or gone. The page
 * contains all rows of every time between its first and its last one, so after it all rows below its last time were
 * taken: we are where we began. A page that starts at `last` proves nothing: rows of that time may precede it that no
 * page has shown. A row that exists throughout is not above the highest time at the start, so all such rows were taken
 * once `last` is above that. If nothing later was added, the highest time must be read in one page: a page in
 * descending order at offset 0 that ends below `last` has all rows from `last` on. If no row is below `last`, the page
 * is all there is if the page after it is empty and, read again, it still has each of its rows: they existed when the
 * other page was empty, and no others did. If all rows from `last` on have been deleted, a proved page ends below
 * `last`. It is the end if the page after it is empty and, read again, it has the same rows: a row after it would have
 * had to take the place of a deleted one, and then the page would have lost a row too, or would show a later one. If a
 * time has more rows than a page, no page shows all of them, and this order proves nothing.
 */

export type CreatedScanOptions = {
  /** Pages in the order of `created`. */
  readonly readPage: ReadPage;
  /** How many rows each page requests, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
};

/** How far a scan by creation time has progressed; plain JSON. It continues, as far as is known, at a row below `last`. */
export const createdPosition = z.extend(progressSchema, {
  /** The highest time at the start of the scan, which must be passed; null if it could not be determined. */
  target: z.nullable(z.number()),
  stepBack: z.number(),
  /** The highest time taken, and all ids taken with that time. */
  last: z.nullable(z.object({ created: z.number(), ids: z.array(z.string()) })),
});

export type CreatedPosition = z.infer<typeof createdPosition>;

const START: CreatedPosition = { ...NO_PROGRESS, target: null, stepBack: 0, last: null };

/** What is proved, and what the proof assumes. */
const CLAIM = provedIf(true, ['current-responses', 'fixed-creation-times']);

/** A row of a page, with its id and the time of its creation in epoch milliseconds. */
type Row = {
  readonly key: Id;
  readonly created: number;
  readonly page: CalculationPage;
  readonly at: number;
};

type Read = (
  request: Pick<PageRequest, 'ascending' | 'offset'> & { readonly limit?: number },
) => Promise<readonly Row[]>;

/**
 * Reads all rows in the order of their creation, by offset, each page overlapping the last by all rows of its last
 * time. Throws `OrderError` if the platform contradicts the order, or if the order proves nothing because a row has no
 * time or a time more rows than a page; and `ScanError` if the scan makes no progress.
 */
export function createdScan({ readPage, limit }: CreatedScanOptions): Scan<CreatedPosition> {
  return async function* scan({ from, signal }) {
    let position = from ?? START;
    const read: Read = async (request) => {
      const page = await readPage({ limit, ...request, signal });
      position = withReported(position, page);
      return rowsOf(page, request);
    };
    const step = (fresh: readonly Row[]) => ({
      batch: batchOf(fresh),
      position,
      total: position.totals.end,
    });
    if (from === undefined) {
      const target = await highestTime(read);
      position = { ...position, target };
    }
    for (;;) {
      refuseStall(position);
      const offset = Math.max(0, position.next - position.stepBack);
      const rows = await read({ ascending: true, offset });
      if (!isSeamProved(position, rows, offset)) {
        position = steppedBack(position);
        continue;
      }
      const fresh = freshRows(position, rows);
      position = past(withTaken(position, fresh), rows, offset);
      if (fresh.length > 0) yield step(fresh);
      if (isPassed(position)) return outcomeOf(position, 'created', CLAIM);
      if (fresh.length > 0 && !isReached(position)) continue;
      const rest = await restAtEnd(position, { rows, offset }, read);
      if (rest === null) {
        refuseCrowd(position, { rows, offset });
        continue;
      }
      position = withTaken(position, rest);
      if (rest.length > 0) yield step(rest);
      return outcomeOf(position, 'created', CLAIM);
    }
  };
}

/** True if all rows that existed at the start are below `last`. */
const isPassed = ({ target, last }: CreatedPosition) =>
  target !== null && last !== null && last.created > target;

const isReached = ({ target, last }: CreatedPosition) => target !== null && last?.created === target;

/** True if nothing is lost before a page that starts at `offset`. */
function isSeamProved({ last }: CreatedPosition, rows: readonly Row[], offset: number): boolean {
  const first = rows[0]?.created;
  return offset === 0 || (first !== undefined && last !== null && first < last.created);
}

/** The rows that were not taken before: all later ones, and those of the last time with new ids. */
function freshRows({ last }: CreatedPosition, rows: readonly Row[]): readonly Row[] {
  if (last === null) return rows;
  const known = new Set(last.ids);
  return rows.filter(
    ({ key, created }) => created > last.created || (created === last.created && !known.has(key)),
  );
}

/** The position after the fresh rows are taken; they are in ascending order. */
function withTaken(position: CreatedPosition, fresh: readonly Row[]): CreatedPosition {
  const created = fresh.at(-1)?.created;
  if (created === undefined) return counted(position, 0);
  const before = position.last?.created === created ? position.last.ids : [];
  const ids = fresh.filter((row) => row.created === created).map(({ key }) => key);
  return { ...counted(position, fresh.length), last: { created, ids: [...before, ...ids] } };
}

/** The position after a proved page whose fresh rows are taken: the next one starts at its last row below their time. */
function past(position: CreatedPosition, rows: readonly Row[], offset: number): CreatedPosition {
  const { last } = position;
  const below = rows.findLastIndex(({ created }) => last !== null && created < last.created);
  return { ...position, next: offset + Math.max(0, below), stepBack: 0 };
}

/** How many pages in a row must bring nothing new before a time is taken to have more rows than a page. */
const LEAST_IDLE = 10;

/** Throws `OrderError` if a page began as late as it could and did not get past the last time, again and again. */
function refuseCrowd({ last, next, idle }: CreatedPosition, { rows, offset }: PlacedRows): void {
  if (idle < LEAST_IDLE || next !== offset || last === null || rows.at(-1)?.created !== last.created) return;
  throw new OrderError(`more records were created at ${last.created} than a page has`);
}

/** The remaining rows, in ascending order, if no later ones follow; null if this is not known to be the end. */
async function restAtEnd(
  position: CreatedPosition,
  page: PlacedRows,
  read: Read,
): Promise<readonly Row[] | null> {
  const top = await read({ ascending: false, offset: 0 });
  const last = position.last?.created ?? Number.NEGATIVE_INFINITY;
  const isWhole = showsDescent(top) && (top.at(-1)?.created ?? last) < last;
  if (isWhole || (await isAll(top, read))) return freshRows(position, top).toReversed();
  return (await endsBelow(last, page, read)) ? [] : null;
}

/** The rows of a page, and where it starts. */
type PlacedRows = { readonly rows: readonly Row[]; readonly offset: number };

/** True if a proved page ends below the time `last`, and no row follows it (see above). */
async function endsBelow(last: number, { rows, offset }: PlacedRows, read: Read): Promise<boolean> {
  if (rows.length === 0 || rows.some(({ created }) => created >= last)) return false;
  if ((await read({ ascending: true, offset: offset + rows.length })).length > 0) return false;
  const again = new Set((await read({ ascending: true, offset })).map(({ key }) => key));
  return again.size === rows.length && rows.every(({ key }) => again.has(key));
}

/** True if the rows of a page at offset 0 are all there are, in whatever order (see above). */
async function isAll(top: readonly Row[], read: Read): Promise<boolean> {
  if (top.length === 0) return true;
  if ((await read({ ascending: false, offset: top.length })).length > 0) return false;
  const again = new Set((await read({ ascending: false, offset: 0 })).map(({ key }) => key));
  return top.every(({ key }) => again.has(key));
}

/** True if the rows themselves show that they descend; equal ones do not. */
const showsDescent = (rows: readonly Row[]) => (rows[0]?.created ?? 0) > (rows.at(-1)?.created ?? 0);

/** The highest time of this moment; null if no page shows it. */
async function highestTime(read: Read): Promise<number | null> {
  const two = await read({ ascending: false, offset: 0, limit: 2 });
  const top = showsDescent(two) || two.length < 2 ? two : await read({ ascending: false, offset: 0 });
  return showsDescent(top) ? (top[0]?.created ?? null) : null;
}

/** The rows of a page. Throws `OrderError` if they are not in the requested order, each once and with its time. */
function rowsOf(page: CalculationPage, request: Pick<PageRequest, 'ascending' | 'offset'>): readonly Row[] {
  const rows = page.keys.map((key, at) => ({ key, created: page.createdMs(at), page, at }));
  const timeless = rows.find(({ created }) => !Number.isFinite(created));
  if (timeless !== undefined) throw new OrderError(`record ${timeless.key} does not say when it was created`);
  if (new Set(page.keys).size < rows.length) throw new OrderError('a record came twice in a page');
  refuseDisorder(
    rows.map(({ created }) => created),
    request,
    BY_TIME,
  );
  return rows;
}

const BY_TIME = { of: 'created', mayFollow: (time: number, before: number) => before <= time };

/** Rows of one page as a batch, in this order. */
const batchOf = (rows: readonly Row[]): RecordBatch =>
  rows[0]?.page.batchOf(rows.map(({ at }) => at)) ?? emptyBatch;
