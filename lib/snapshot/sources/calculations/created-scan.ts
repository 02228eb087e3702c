import { provedIf, type Scan, type ScanOutcome } from '../../scan.ts';
import {
  type CreatedPosition,
  type CreatedRow,
  freshRows,
  isSeamProved,
  isWalkedThrough,
  pastPage,
  steppedBack,
  withoutProofIfStuck,
  withTaken,
} from './created-position.ts';
import { createCreationTime } from './creation-time.ts';
import { readUndegraded } from './degraded-retry.ts';
import { OrderError, ScanError } from './scan-error.ts';
import { batchOfRows, type ReadSortedPage, type SortedPageRequest } from './sorted-pages.ts';
import { NO_TRICKLE, refuseTrickle } from './trickle.ts';

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
 * time has more rows than a page, no page shows all of them; they are
 * read page by page, and nothing is proved.
 */

export type CreatedScanOptions = {
  /** Pages in the order of `created`. */
  readonly readPage: ReadSortedPage;
  /** How many rows each page requests, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** What the proof assumes. */
const ASSUMES = ['current-responses', 'fixed-creation-times'] as const;

/** How many pages may bring nothing new, beyond those that reread what was taken, before the scan gives up. */
const IDLE_PAGES = 64;

/**
 * Reads all rows in the order of their creation, by offset, each page overlapping the last by all rows of its last
 * time. Throws `OrderError` if the platform contradicts the order, `ScanError` if the scan makes no progress, and
 * `PlatformError` of kind `shape` for a row without a time.
 */
export function createdScan(options: CreatedScanOptions): Scan<CreatedPosition> {
  return async function* scan({ from, signal }) {
    const reader = createReader(options, from, signal);
    let position = from ?? (await startAt(reader, options.limit));
    const step = (fresh: readonly CreatedRow[]) => ({
      batch: batchOfRows(fresh),
      position: { ...position, ...reader.reported() },
      total: reader.reported().totals.end,
    });
    for (;;) {
      refuseStall(position);
      const offset = Math.max(0, position.next - position.stepBack);
      const rows = await reader.read({ ascending: true, offset });
      if (!isSeamProved(position, rows, offset)) {
        position = steppedBack(position);
        continue;
      }
      const before = position;
      const fresh = freshRows(before, rows);
      position = pastPage(withTaken(before, fresh), { before, rows, offset });
      if (fresh.length > 0) yield step(fresh);
      if (isPassed(position)) return outcomeOf(position, reader.reported());
      if (fresh.length === 0 || isReached(position)) {
        const rest = await restAtEnd(position, { rows, offset }, reader);
        if (rest !== null) {
          position = withTaken(position, rest);
          if (rest.length > 0) yield step(rest);
          return outcomeOf(position, reader.reported());
        }
      }
      position = withoutProofIfStuck(position);
    }
  };
}

/** True if all rows that existed at the start are below `last`. */
const isPassed = ({ target, last }: CreatedPosition) =>
  target !== null && last !== null && last.created > target;

const isReached = ({ target, last, tooMany }: CreatedPosition) =>
  target !== null && last?.created === target && tooMany !== target;

/** The remaining rows, in ascending order, if no later ones follow; null if this is not known to be the end. */
async function restAtEnd(
  position: CreatedPosition,
  page: PlacedRows,
  { read }: Reader,
): Promise<readonly CreatedRow[] | null> {
  const top = await read({ ascending: false, offset: 0 });
  const last = position.last?.created ?? Number.NEGATIVE_INFINITY;
  const isWhole = showsDescent(top) && (top.at(-1)?.created ?? last) < last;
  if (isWhole || (await isAll(top, read))) return freshRows(position, top).toReversed();
  if (isWalkedThrough(position, page.rows) && top.every(({ created }) => created <= last)) return [];
  return (await endsBelow(last, page, read)) ? [] : null;
}

/** The rows of a page, and where it starts. */
type PlacedRows = { readonly rows: readonly CreatedRow[]; readonly offset: number };

/** True if a proved page ends below the time `last`, and no row follows it (see above). */
async function endsBelow(last: number, { rows, offset }: PlacedRows, read: Reader['read']): Promise<boolean> {
  if (rows.length === 0 || rows.some(({ created }) => created >= last)) return false;
  if ((await read({ ascending: true, offset: offset + rows.length })).length > 0) return false;
  const again = new Set((await read({ ascending: true, offset })).map(({ key }) => key));
  return again.size === rows.length && rows.every(({ key }) => again.has(key));
}

/** True if the rows of a page at offset 0 are all there are, in whatever order (see above). */
async function isAll(top: readonly CreatedRow[], read: Reader['read']): Promise<boolean> {
  if (top.length === 0) return true;
  if ((await read({ ascending: false, offset: top.length })).length > 0) return false;
  const again = new Set((await read({ ascending: false, offset: 0 })).map(({ key }) => key));
  return top.every(({ key }) => again.has(key));
}

/** True if the rows themselves show that they descend; equal ones do not. */
const showsDescent = (rows: readonly CreatedRow[]) => (rows[0]?.created ?? 0) > (rows.at(-1)?.created ?? 0);

async function startAt({ read }: Reader, limit: number): Promise<CreatedPosition> {
  const two = await read({ ascending: false, offset: 0, limit: 2 });
  const top = showsDescent(two) || two.length < 2 ? two : await read({ ascending: false, offset: 0 });
  const target = showsDescent(top) ? (top[0]?.created ?? null) : null;
  const reported = { degraded: false, totals: { start: null, end: null } };
  const counts = { stepBack: 0, tries: 0, taken: 0, smallest: limit, idle: 0, trickle: NO_TRICKLE };
  return { target, next: 0, last: null, tooMany: null, ...counts, ...reported };
}

type Reported = Pick<CreatedPosition, 'degraded' | 'totals'>;

type Reader = {
  readonly read: (
    request: Omit<SortedPageRequest, 'signal' | 'limit'> & { limit?: number },
  ) => Promise<readonly CreatedRow[]>;
  /** What the pages have reported about the whole. */
  readonly reported: () => Reported;
};

/** Reads rows, checks that they are in the requested order, and collects what their pages report about the whole. */
function createReader(
  { readPage, limit, sleep }: CreatedScanOptions,
  from: CreatedPosition | undefined,
  signal: AbortSignal | undefined,
): Reader {
  const timeOf = createCreationTime();
  let reported: Reported = {
    degraded: from?.degraded ?? false,
    totals: from?.totals ?? { start: null, end: null },
  };
  return {
    reported: () => reported,
    async read(request) {
      const page = await readUndegraded(() => readPage({ limit, ...request, signal }), sleep, signal);
      const { start, end } = reported.totals;
      const totals = { start: start ?? page.total, end: page.total ?? end };
      reported = { degraded: reported.degraded || page.degraded, totals };
      const rows = page.rows.map((row) => ({ ...row, created: timeOf(row) }));
      refuseDisorder(rows, request);
      return rows;
    },
  };
}

function refuseDisorder(
  rows: readonly CreatedRow[],
  { ascending, offset }: { ascending: boolean; offset: number },
): void {
  const seen = new Set<string>();
  for (const [at, { key, created }] of rows.entries()) {
    const before = rows[at - 1];
    const isRepeat = seen.has(key);
    if (!isRepeat && (before === undefined || (created - before.created) * (ascending ? 1 : -1) >= 0)) {
      seen.add(key);
      continue;
    }
    const order = `the platform did not keep to the ${ascending ? 'ascending' : 'descending'} order of created`;
    const what = isRepeat ? 'came twice' : `(${created}) came after ${before?.created}`;
    throw new OrderError(`${order}: record ${key} ${what} at row ${offset + at}`);
  }
}

/** Bounds the requests: rereading everything after a step back is allowed, looping forever is not. */
function refuseStall({ idle, taken, smallest, next, trickle }: CreatedPosition): void {
  refuseTrickle(trickle, next);
  if (idle <= IDLE_PAGES + taken / Math.max(1, smallest - 1)) return;
  throw new ScanError(`the scan made no progress: ${idle} pages up to row ${next} brought nothing new`);
}

function outcomeOf({ tooMany }: CreatedPosition, { degraded, totals }: Reported): ScanOutcome {
  const claim = provedIf(tooMany === null && !degraded, ASSUMES);
  return { ...claim, totals, order: 'created', refused: degraded ? ['degraded'] : [] };
}
