import type { PutCondition, Store, StoredObject } from '../store/store.ts';
import { printStored } from '../store/stored-json.ts';
import { collectFacts } from './collect/collect-facts.ts';
import type { ReportFacts } from './facts.ts';
import { printPage } from './html.ts';
import { markOf, withMark } from './report-mark.ts';
import { REPORT_KEY, REPORT_PAGE_KEY, type StoredReport } from './stored-report.ts';

export type ReportToWrite = {
  readonly store: Store;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
};

/** `written`: the report that is stored now. `superseded`: one that was begun later was stored meanwhile, and stays. */
export type WrittenReport = {
  readonly kind: 'written' | 'superseded';
  readonly report: StoredReport;
  readonly faults: readonly string[];
};

/** A report that is not stored yet. */
export type PrintedReport = {
  readonly page: Buffer;
  readonly report: StoredReport;
  readonly facts: ReportFacts;
};

/** Collects what the report shows, and prints its page. */
export async function printReport({ store, now, signal }: ReportToWrite): Promise<PrintedReport> {
  const startedAt = now();
  const facts = await collectFacts({ store, now, signal });
  const runs = Object.fromEntries(facts.snapshots.map(({ place, run }) => [place, run]));
  const mark = { version: 1 as const, writtenAt: facts.writtenAt, startedAt, runs };
  const page = withMark(await printPage(facts), mark);
  return { page, report: { ...mark, bytes: page.byteLength }, facts };
}

/**
 * Writes the report into the store: the page, and then what is said of it. The page itself says when it was begun, and is
 * replaced only by one that was begun later, under the condition that it is still the one that was looked at. What is said
 * of it is made from the page that is there, by whoever comes last: so both match in the end, in whatever order several
 * writers come, and whoever of them is killed.
 */
export async function writeReport(options: ReportToWrite): Promise<WrittenReport> {
  const { store, signal } = options;
  const { page, report, facts } = await printReport(options);
  const isStored = await storePage(page, report, { store, signal });
  const stored = await describePage({ store, signal });
  return {
    kind: isStored ? 'written' : 'superseded',
    report: isStored ? report : (stored ?? report),
    faults: facts.faults,
  };
}

type Storage = Pick<ReportToWrite, 'store' | 'signal'>;

/** False if a page is there that was begun later. */
async function storePage(
  page: Buffer,
  { startedAt }: StoredReport,
  { store, signal }: Storage,
): Promise<boolean> {
  for (;;) {
    signal.throwIfAborted();
    const there = await store.get(REPORT_PAGE_KEY, { signal });
    const thereAt = there && markOf(there.body)?.startedAt;
    if (thereAt !== undefined && thereAt > startedAt) return false;
    const put = await store.put(REPORT_PAGE_KEY, page, {
      condition: unchanged(there),
      contentType: 'text/html; charset=utf-8',
      signal,
    });
    if (put.kind === 'stored') return true;
  }
}

const unchanged = (there: StoredObject | undefined): PutCondition =>
  there === undefined ? { ifAbsent: true } : { ifMatch: there.etag };

/** Stores what is said of the page that is there, unless that is said already, and returns it. */
async function describePage({ store, signal }: Storage): Promise<StoredReport | undefined> {
  for (;;) {
    signal.throwIfAborted();
    const said = await store.get(REPORT_KEY, { signal });
    // After what is said of it: if the page is another one then, what is said has changed too, or will be.
    const page = await store.get(REPORT_PAGE_KEY, { signal });
    const report = page && markOf(page.body);
    if (report === undefined) return undefined;
    const body = printStored(report);
    if (said?.body.equals(body)) return report;
    const put = await store.put(REPORT_KEY, body, {
      condition: unchanged(said),
      contentType: 'application/json',
      signal,
    });
    if (put.kind === 'stored') return report;
  }
}
