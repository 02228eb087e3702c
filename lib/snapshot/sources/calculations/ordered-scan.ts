import { compareIds } from '../../../platform/index.ts';
import { isShort, type ScanStart, type ScanStep, verifiedIf } from '../../scan.ts';
import {
  type CalculationRead,
  countPage,
  EmptyOrderError,
  outcomeOf,
  type Progress,
  type ReadPage,
  refuseStall,
  ScanError,
  withReported,
} from './pages.ts';

type CalculationPage = Awaited<ReturnType<ReadPage>>;

/*
 * Why no row is lost. Rows are sorted by their id or their time of creation, which never change, so no row moves past
 * another: when rows are deleted, the rows after them move to lower offsets, and added rows come at the end. Suppose
 * that all rows below the value `last` were taken, and of the rows with that value those whose ids are remembered. If a
 * page starts at offset 0, or with a row **below** `last`, then all rows before the page are below `last`, so they were
 * taken, or deleted. The page contains all rows of every value between its first and its last value, so after it all
 * rows below its last value were taken. That is the same situation as before, so the seam between the two pages is
 * proved. No two rows have the same id, so by id a page that starts **at** `last` also proves the seam; by time it does
 * not, since the page may be preceded by rows of that time that no page has shown. If the seam is not proved, rows in
 * between may have moved to offsets below the page. Therefore the scan steps back and reads again, twice as far back
 * each time, until a page proves the seam or starts at 0.
 *
 * The scan ends at the highest value that existed when it began, which its first request reads. Once every row up to
 * that value was taken, the scan is complete. Rows that are added in the meantime belong to the next run, and cannot
 * keep this run from ending. By id, a proved page that reaches the value shows that the scan is complete; by time, the
 * page must go above the value, since a page may not have all rows of one time.
 *
 * If the rows of that value were deleted, or if there is no row above it, the page of the latest rows (in descending
 * order, from offset 0) shows the end: if it reaches down to a row that proves the seam, it has every row from there
 * on, and no other row is left. If that page has only one row, or all its rows have the same time, it does not show
 * whether the platform keeps the descending order. Then the next page must be empty, and the first page, read again,
 * must still have each of its rows: these existed when the next page was empty, and no other row did, so they are all
 * that is left. A short page or a total does not prove the end. If more rows have the same time than fit into a page,
 * no page shows all of them, and the scan makes no progress.
 */

/** What a finished scan proves, by the field that it is ordered by. */
const COMPLETENESS = {
  id: verifiedIf(true, ['current-responses']),
  created: verifiedIf(true, ['current-responses', 'fixed-creation-times']),
} as const;

/**
 * The number of pages to fetch while one is being processed. Where the second of these starts can be guessed only if pages
 * are ordered by id.
 */
const PAGES_AHEAD = { id: 2, created: 1 } as const;
/** Maximum bytes of pages to fetch ahead; one page is always fetched ahead. */
const MAX_AHEAD_BYTES = 8 * 1024 * 1024;

/**
 * Reads all rows in the order of their ids or of their creation. Throws `ScanError` if the platform does not keep the
 * order, the order does not prove the scan complete, or the scan makes no progress.
 */
export async function* orderedScan(
  {
    readPage,
    limit,
  }: {
    /** Reads pages in the order of the position's `field`. */
    readonly readPage: ReadPage;
    /** The number of rows that each page requests, 1 to 5000; the platform may send fewer. */
    readonly limit: number;
  },
  { from, signal }: Pick<ScanStart<Progress>, 'signal'> & { readonly from: Progress },
): AsyncGenerator<ScanStep<Progress>, CalculationRead, undefined> {
  const { field } = from;
  let position = from;
  const ahead = createPagesAhead((offset, stop) =>
    readPage({ ascending: true, offset, limit, signal: signal ? AbortSignal.any([signal, stop]) : stop }),
  );
  const rowsOf = (page: CalculationPage, isAscending: boolean) => {
    position = withReported(position, page);
    return checkedRows(page, field, isAscending);
  };
  // Two rows show whether the platform keeps the descending order at all. By time, a page must have more rows than
  // share any one time.
  const latest = async (offset: number, rows = field === 'id' ? 2 : limit) =>
    rowsOf(await readPage({ ascending: false, offset, limit: rows, signal }), false);
  try {
    if (position.top === null) {
      const top = highest(await latest(0, 2), field);
      position = { ...position, top };
    }
    for (;;) {
      refuseStall(position);
      const offset = Math.max(0, position.next - position.stepBack);
      const rows = rowsOf(await ahead.take(offset), true);
      if (offset > 0 && !provesSeam(position, rows.values[0])) {
        position = { ...countPage(position, 0), stepBack: Math.max(1, position.stepBack * 2) };
        continue;
      }
      refuseEmpty(rows, field);
      const fresh = freshRows(position, rows);
      position = withPage(position, rows, { fresh, offset });
      const { end } = position.totals;
      const isEnded = hasAllFromStart(position, offset + rows.page.received);
      const mayEnd = fresh.length === 0 || (end !== null && offset + rows.page.received >= end);
      if (!isEnded && !mayEnd) ahead.plan(position, position.next - offset, rows.page);
      if (fresh.length > 0) yield stepOf(position, rows, fresh);
      if (isEnded) return outcomeOf(position, field, COMPLETENESS[field]);
      if (!mayEnd) continue;
      const top = await latest(0);
      if (position.top === null) position = { ...position, top: highest(top, field) };
      if (!(await hasAllRemaining(position, top, latest))) continue;
      const rest = freshRows(position, top).toReversed();
      position = withTaken(position, top, rest);
      if (rest.length > 0) yield stepOf(position, top, rest);
      return outcomeOf(position, field, COMPLETENESS[field]);
    }
  } finally {
    ahead.stop();
  }
}

type Value = string | number;

type Rows = { readonly page: CalculationPage; readonly values: readonly Value[] };

/** Orders two values of the same field. */
const compare = (a: Value, b: Value): number =>
  typeof a === 'number' ? a - Number(b) : compareIds(a, String(b));

/** The highest value that exists, read from the page of the latest rows; null if the list is empty. */
function highest(rows: Rows, field: Progress['field']): Value | null {
  refuseEmpty(rows, field);
  return rows.values[0] ?? null;
}

/**
 * Throws `EmptyOrderError` if no rows are listed even though the platform reports records: it does not support the
 * order.
 */
function refuseEmpty({ page: { received, total } }: Rows, field: Progress['field']): void {
  if (received > 0 || !total) return;
  throw new EmptyOrderError(`sorted by ${field}, the platform listed no rows, and reported ${total}`);
}

/**
 * Whether all rows were taken that existed when the scan began (see above). `read`: the number of rows read so far. If
 * the platform reported more, both at the start and now, a response was not current; then the latest rows decide.
 */
function hasAllFromStart({ field, top, last, totals }: Progress, read: number): boolean {
  if (top === null || last === null || isShort(read, totals)) return false;
  const order = compare(last.value, top);
  return order > 0 || (order === 0 && field === 'id');
}

const stepOf = (position: Progress, rows: Rows, fresh: readonly number[]): ScanStep<Progress> => ({
  batch: rows.page.batchOf(fresh),
  position,
  total: position.totals.end,
});

/** Whether a page that starts with this value proves its seam: all rows before it were taken or deleted (see above). */
function provesSeam({ field, last }: Progress, value: Value | undefined): boolean {
  if (last === null || value === undefined) return false;
  const order = compare(value, last.value);
  return order < 0 || (order === 0 && field === 'id');
}

/**
 * The indexes of a page's new rows: those with a higher value than the last, and those with the last value and a new
 * id.
 */
function freshRows({ last }: Progress, { page, values }: Rows): readonly number[] {
  const known = new Set(last?.ids);
  const rows: number[] = [];
  // Not an iterator, which allocates an object for each row: two iterators were a third of a scan's garbage.
  for (let row = 0; row < values.length; row += 1) {
    const order = last === null ? 1 : compare(values[row] ?? '', last.value);
    if (order > 0 || (order === 0 && !known.has(page.keys[row] ?? ''))) rows.push(row);
  }
  return rows;
}

/** The progress after taking these rows, which are in ascending order. */
function withTaken(position: Progress, { page, values }: Rows, fresh: readonly number[]): Progress {
  const value = values[fresh.at(-1) ?? -1];
  if (value === undefined) return countPage(position, 0);
  const before = position.last?.value === value ? position.last.ids : [];
  const ids = fresh.filter((row) => values[row] === value).map((row) => page.keys[row] ?? '');
  return { ...countPage(position, fresh.length), last: { value, ids: [...before, ...ids] } };
}

/** The progress after a page. The next page will overlap it. */
function withPage(
  position: Progress,
  rows: Rows,
  { fresh, offset }: { readonly fresh: readonly number[]; readonly offset: number },
): Progress {
  const after = withTaken(position, rows, fresh);
  const overlap = rows.values.findLastIndex((value) => provesSeam(after, value));
  return { ...after, next: offset + Math.max(0, overlap), stepBack: 0 };
}

/** Whether only the latest rows remain to be taken (see above). `latest`: reads the latest rows from an offset on. */
async function hasAllRemaining(
  position: Progress,
  { page, values }: Rows,
  latest: (offset: number) => Promise<Rows>,
): Promise<boolean> {
  const bottom = values.at(-1);
  if (bottom === undefined) return page.received === 0;
  if (compare(values[0] ?? bottom, bottom) > 0) return provesSeam(position, bottom);
  if ((await latest(page.received)).page.received > 0) return false;
  const again = new Set((await latest(0)).page.keys);
  return page.keys.every((key) => again.has(key));
}

/**
 * The rows of a page with their values. Throws `ScanError` if they are not in the requested order, or if a row is
 * repeated or has no value.
 */
function checkedRows(page: CalculationPage, field: Progress['field'], isAscending: boolean): Rows {
  const values = field === 'id' ? page.keys : page.keys.map((_, row) => page.createdMs(row));
  const withoutTime = values.findIndex((value) => typeof value === 'number' && !Number.isFinite(value));
  if (withoutTime >= 0) throw new ScanError(`record ${page.keys[withoutTime]} has no creation time`);
  if (field !== 'id' && new Set(page.keys).size < values.length)
    throw new ScanError('a record came twice in a page');
  const at = values.findIndex((value, row) => {
    const before = values[row - 1];
    if (before === undefined) return false;
    const order = isAscending ? compare(before, value) : compare(value, before);
    return order > 0 || (order === 0 && field === 'id');
  });
  if (at < 0) return { page, values };
  throw new ScanError(
    `the platform did not keep to the ${isAscending ? 'ascending' : 'descending'} order of ${field}: ${values[at]} came after ${values[at - 1]}`,
  );
}

/**
 * Fetches pages early. That is safe, since a page's content proves its seam. If a page is requested that was not
 * planned, rows have moved, and the planned pages are dropped.
 */
function createPagesAhead(read: (offset: number, signal: AbortSignal) => Promise<CalculationPage>) {
  const ahead = new Map<number, Promise<CalculationPage>>();
  let wanted = new AbortController();
  const stop = () => {
    wanted.abort();
    wanted = new AbortController();
    ahead.clear();
  };
  return {
    take(offset: number): Promise<CalculationPage> {
      const page = ahead.get(offset);
      if (page === undefined) stop();
      ahead.delete(offset);
      return page ?? read(offset, wanted.signal);
    },
    /**
     * Starts to fetch the next pages. Each one starts a stride after the page before. The stride is the number of rows
     * of a page, without the overlap.
     */
    plan({ field, next, totals: { end } }: Progress, stride: number, { sizeBytes }: CalculationPage): void {
      const pages = Math.min(PAGES_AHEAD[field], Math.max(1, Math.floor(MAX_AHEAD_BYTES / sizeBytes)));
      for (let at = 0; at < pages; at += 1) {
        const offset = next + at * stride;
        // Pages beyond the reported total are most likely empty. If the total is wrong, they are fetched later.
        if (ahead.has(offset) || (end !== null && offset + 1 >= end)) continue;
        const fetched = read(offset, wanted.signal);
        // `take` throws the error of the page that it returns. The error of an aborted page is ignored.
        fetched.catch(() => undefined);
        ahead.set(offset, fetched);
      }
    },
    stop,
  };
}
