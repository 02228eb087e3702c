import { compareIds } from '../../../platform/index.ts';
import { type ScanStart, type ScanStep, verifiedIf } from '../../scan.ts';
import {
  type CalculationRead,
  counted,
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
 * Why no row is lost. Rows are sorted by their id or their time of creation, which never change, so no row
 * moves past another: when rows are deleted, the rows after them move to lower offsets, and added rows come
 * at the end. Suppose that all rows below the value `last` were taken, and of the rows at `last` those whose
 * ids we remember. Before a page that starts at offset 0, or with a row **below** `last`, there are only rows
 * below `last`: they were taken, or deleted. The page contains all rows of every value between its first and
 * its last value, so after it all rows below its last value were taken. That is the same situation as before,
 * so the seam between the two pages is proved. No two rows have the same id, so by id a page that starts **at**
 * `last` also proves the seam; by time it does not, since the page may be preceded by rows of that time that no
 * page has shown. If the seam is not proved, rows in between may have moved to offsets below the page. Therefore
 * step back and read again, twice as far each time, until a page proves the seam or starts at 0.
 *
 * The scan ends at the highest value that existed when it began, which its first request reads. Once every row
 * up to that value was taken, the scan is complete. Rows that are added meanwhile belong to the next run, and
 * cannot keep this run from ending. By id, a proved page that reaches the value shows that the scan is complete;
 * by time, the page must go above the value, since a page may not have all rows of one time.
 *
 * If the rows of that value were deleted, or there is no row above it, the end is shown by the page of the
 * latest rows, in descending order from offset 0: if it reaches down to a row that proves the seam, it has
 * every row from there on, and no other row is left. If it has only one row, or all its rows have the same time,
 * they cannot be seen to descend. In that case they are all rows that are left if the page after it is empty
 * and, read again, the first page still has each of its rows: these existed when the other page was empty, and
 * no other row did. A short page or a total does not prove the end. If a time has more rows than a page, no page
 * shows all of them, and the scan makes no progress.
 */

const COMPLETENESS = {
  id: verifiedIf(true, ['current-responses']),
  created: verifiedIf(true, ['current-responses', 'fixed-creation-times']),
} as const;

/**
 * The number of pages to fetch while one is processed. The start of the second page can be guessed only if pages
 * are ordered by id.
 */
const PAGES_AHEAD = { id: 2, created: 1 } as const;
/** Maximum bytes of pages to fetch ahead; one page is always fetched ahead. */
const MAX_AHEAD_BYTES = 8 * 1024 * 1024;

/**
 * Reads all rows by id or creation. Throws `ScanError` if the platform does not keep the order, the order
 * does not prove the scan complete, or there is no progress.
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
  // Two rows show whether the platform keeps the descending order at all. By time, a page must have more rows
  // than any one time has.
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
        position = { ...counted(position, 0), stepBack: Math.max(1, position.stepBack * 2) };
        continue;
      }
      if (offset === 0) refuseEmpty(rows, field);
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
      if (!(await hasAllThatIsLeft(position, top, latest))) continue;
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

/** The highest existing value, taken from the page of the latest rows; null if the list is empty. */
function highest(rows: Rows, field: Progress['field']): Value | null {
  refuseEmpty(rows, field);
  return rows.values[0] ?? null;
}

/**
 * Throws `EmptyOrderError` if no rows are listed although the platform reports records, which means that it does
 * not support the order.
 */
function refuseEmpty({ page: { received, total } }: Rows, field: Progress['field']): void {
  if (received > 0 || !total) return;
  throw new EmptyOrderError(`sorted by ${field}, the platform listed no rows, and reported ${total}`);
}

/**
 * Whether all rows were taken that existed when the scan began (see above). `read`: the number of rows up to here. If
 * the platform reported more, at the start and now, a response was not current, so the latest rows must decide.
 */
function hasAllFromStart({ field, top, last, totals }: Progress, read: number): boolean {
  if (top === null || last === null || read < Math.min(totals.start ?? 0, totals.end ?? 0)) return false;
  const order = compare(last.value, top);
  return order > 0 || (order === 0 && field === 'id');
}

const stepOf = (position: Progress, rows: Rows, fresh: readonly number[]): ScanStep<Progress> => ({
  batch: batchOf(rows, fresh),
  position,
  total: position.totals.end,
});

/** Whether all rows before one with this value were taken or deleted (see above). */
function provesSeam({ field, last }: Progress, value: Value | undefined): boolean {
  if (last === null || value === undefined) return false;
  const order = compare(value, last.value);
  return order < 0 || (order === 0 && field === 'id');
}

/** The indexes of the new rows: rows with a higher value, and rows of the last value with new ids. */
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

/** The position after these rows, in ascending order, were taken. */
function withTaken(position: Progress, { page, values }: Rows, fresh: readonly number[]): Progress {
  const value = values[fresh.at(-1) ?? -1];
  if (value === undefined) return counted(position, 0);
  const before = position.last?.value === value ? position.last.ids : [];
  const ids = fresh.filter((row) => values[row] === value).map((row) => page.keys[row] ?? '');
  return { ...counted(position, fresh.length), last: { value, ids: [...before, ...ids] } };
}

/** The position after a page. The next page overlaps it. */
function withPage(
  position: Progress,
  rows: Rows,
  { fresh, offset }: { readonly fresh: readonly number[]; readonly offset: number },
): Progress {
  const after = withTaken(position, rows, fresh);
  const overlap = rows.values.findLastIndex((value) => provesSeam(after, value));
  return { ...after, next: offset + Math.max(0, overlap), stepBack: 0 };
}

/** Whether no rows are left but the latest ones (see above). `latest` reads them from an offset on. */
async function hasAllThatIsLeft(
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
 * The rows of a page. Throws `ScanError` if they are not in the requested order, or if a row is repeated or lacks
 * its value.
 */
function checkedRows(page: CalculationPage, field: Progress['field'], isAscending: boolean): Rows {
  const values = field === 'id' ? page.keys : page.keys.map((_, row) => page.createdMs(row));
  const withoutTime = values.findIndex((value) => typeof value === 'number' && !Number.isFinite(value));
  if (withoutTime >= 0) throw new ScanError(`record ${page.keys[withoutTime]} has no time of creation`);
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

/** Turns rows of a page into a batch. All rows up to the page's end may be written in the page's own memory. */
function batchOf({ page }: Rows, rows: readonly number[]) {
  const first = rows[0] ?? 0;
  const end = rows.at(-1) ?? 0;
  const isRest = end === page.keys.length - 1 && end - first === rows.length - 1;
  return isRest ? page.from(first) : page.batchOf(rows);
}

/**
 * Fetches pages early. That does no harm, since a page's content proves its seam. If a page is requested that was
 * not planned, the rows have moved, and the planned pages are dropped.
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
     * Fetches the next pages. Each is expected one stride after the page before: the number of its rows, less the overlap.
     */
    plan({ field, next, totals: { end } }: Progress, stride: number, { sizeBytes }: CalculationPage): void {
      const pages = Math.min(PAGES_AHEAD[field], Math.max(1, Math.floor(MAX_AHEAD_BYTES / sizeBytes)));
      for (let at = 0; at < pages; at += 1) {
        const offset = next + at * stride;
        // Pages beyond the reported total are most likely empty. If the total is wrong, they are fetched later.
        if (ahead.has(offset) || (end !== null && offset + 1 >= end)) continue;
        const fetched = read(offset, wanted.signal);
        // The error is thrown when the page is taken; the error of an aborted page is not needed.
        fetched.catch(() => undefined);
        ahead.set(offset, fetched);
      }
    },
    stop,
  };
}
