import { compareIds, type Id } from '../platform/id.ts';
import type { ReadPage, ScannedPage, ScannedRecord } from './calculation-pages.ts';

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

/** What a page added: records not taken before, in order, and the total that the platform tells; a hint. */
export type ScanStep = { readonly fresh: readonly ScannedRecord[]; readonly total: number | null };

/** What the scan knows at its end of how complete it is. */
export type ScanOutcome = {
  /** True if every seam was proved: every record that existed throughout is there exactly once. */
  readonly proved: boolean;
  /** True if the platform answered degraded and stayed so. */
  readonly degraded: boolean;
  /** The totals that the platform told first and last; hints, never trusted. */
  readonly totals: { readonly start: number | null; readonly end: number | null };
};

export type OffsetScanOptions = {
  readonly readPage: ReadPage;
  /** Rows a page asks for, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
};

/** The order that was asked for was not kept, or the scan came no further: what was read cannot be called complete. */
export class ScanError extends Error {
  override readonly name = 'ScanError';
}

/** Pages that may bring nothing new, beyond those that read again what was taken, before the scan is given up. */
const IDLE_PAGES = 64;

/** Waits before a degraded page is read again, in milliseconds; then it is taken as it is. */
const DEGRADED_WAITS_MS = [1_000, 2_000, 4_000, 8_000] as const;

/**
 * Reads all rows in the order of ids, by offset, and yields what is new of each page. Its return value says how
 * complete that is. Throws `ScanError` where the platform contradicts the order, or stalls.
 */
export async function* offsetScan(
  options: OffsetScanOptions,
): AsyncGenerator<ScanStep, ScanOutcome, undefined> {
  const read = withDegradedRetry(options);
  const top = await read(TOP);
  const target = highestOf(top);
  const position: Position = {
    next: 0,
    stepBack: 0,
    last: undefined,
    taken: 0,
    smallest: options.limit,
    idle: 0,
  };
  let degraded = top.degraded;
  let total = top.total;
  for (;;) {
    refuseStall(position);
    const offset = Math.max(0, position.next - 1 - position.stepBack);
    const page = await read({ ascending: true, offset, limit: options.limit });
    refuseDisorder(page.records, { ascending: true, offset });
    degraded ||= page.degraded;
    total = page.total ?? total;
    if (!isSeamProved(position, page.records, offset)) {
      position.stepBack = Math.max(1, position.stepBack * 2);
      position.idle += 1;
      continue;
    }
    const fresh = takeFresh(position, page.records, offset);
    if (fresh.length > 0) yield { fresh, total };
    const end = fresh.length > 0 ? target : highestOf(await read(TOP));
    if (hasReached(position, end, fresh.length)) {
      return { proved: !degraded, degraded, totals: { start: top.total, end: total } };
    }
  }
}

/** How far the scan has come. */
type Position = {
  /** The offset after the last row read; rows may have slid below it since. */
  next: number;
  stepBack: number;
  /** The highest id taken. */
  last: Id | undefined;
  /** Records taken. */
  taken: number;
  /** Rows of the smallest page that had any. */
  smallest: number;
  /** Pages since one brought something new. */
  idle: number;
};

function isSeamProved({ last }: Position, records: readonly ScannedRecord[], offset: number): boolean {
  const first = records[0];
  return offset === 0 || (first !== undefined && last !== undefined && compareIds(first.key, last) <= 0);
}

/** The records of a proved page that were not taken before; moves the position past the page. */
function takeFresh(
  position: Position,
  records: readonly ScannedRecord[],
  offset: number,
): readonly ScannedRecord[] {
  const { last } = position;
  const fresh = last === undefined ? records : records.filter((record) => compareIds(record.key, last) > 0);
  position.next = offset + records.length;
  position.stepBack = 0;
  position.last = fresh.at(-1)?.key ?? last;
  position.taken += fresh.length;
  position.smallest = Math.min(position.smallest, Math.max(1, records.length));
  position.idle = fresh.length > 0 ? 0 : position.idle + 1;
  return fresh;
}

/** True if nothing up to `end` is left to take: the id to reach, or undefined where the platform has none. */
function hasReached({ last }: Position, end: Id | undefined, fresh: number): boolean {
  if (end === undefined) return fresh === 0;
  return last !== undefined && compareIds(last, end) >= 0;
}

/** Bounds the requests: reading all again after a step back is allowed, going round for ever is not. */
function refuseStall({ idle, taken, smallest, next }: Position): void {
  if (idle <= IDLE_PAGES + taken / Math.max(1, smallest - 1)) return;
  throw new ScanError(`the scan came no further: ${idle} pages up to row ${next} brought nothing new`);
}

/** Where the highest id stands. Of two rows one can tell whether the platform kept the descending order at all. */
const TOP = { ascending: false, offset: 0, limit: 2 } as const;

function highestOf({ records }: ScannedPage): Id | undefined {
  refuseDisorder(records, TOP);
  return records[0]?.key;
}

type Order = { readonly ascending: boolean; readonly offset: number };

function refuseDisorder(records: readonly ScannedRecord[], { ascending, offset }: Order): void {
  const sign = ascending ? 1 : -1;
  const at = records.findIndex((record, index) => {
    const before = records[index - 1];
    return before !== undefined && sign * compareIds(before.key, record.key) >= 0;
  });
  if (at < 0) return;
  const [before, after] = [records[at - 1]?.key, records[at]?.key];
  const order = ascending ? 'ascending' : 'descending';
  throw new ScanError(
    `the platform did not keep the ${order} order of ids: ${after} came after ${before} at row ${offset + at}`,
  );
}

/** Reads a page, again and again while it is degraded; one that stays so is answered as it is. */
function withDegradedRetry({ readPage, sleep, signal }: OffsetScanOptions) {
  return async (request: Omit<Parameters<ReadPage>[0], 'signal'>): Promise<ScannedPage> => {
    for (const waitMs of DEGRADED_WAITS_MS) {
      const page = await readPage({ ...request, signal });
      if (!page.degraded) return page;
      await sleep(waitMs, signal);
    }
    return readPage({ ...request, signal });
  };
}
