import { printStored, type Store } from '../store/index.ts';
import { collectFacts } from './collect/collect-facts.ts';
import type { ReportFacts } from './facts.ts';
import { printPage } from './html.ts';
import type { PlatformLinks } from './link-to.ts';
import { REPORT_KEY, REPORT_PAGE_KEY, type StoredReport } from './stored-report.ts';

export type ReportToWrite = {
  readonly store: Store;
  /** The operations that the platform throttles alone, in words. Default: none is known. */
  readonly throttled?: (() => Promise<readonly string[]>) | undefined;
  /** Where things are in the platform. Default: nowhere. */
  readonly links?: PlatformLinks | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
};

/** A report that is not stored yet. */
type PrintedReport = { readonly page: Buffer; readonly facts: ReportFacts };

/** Collects what the report shows, and prints its page. */
export async function printReport(options: ReportToWrite): Promise<PrintedReport> {
  const facts = await collectFacts(options);
  return { page: await printPage(facts), facts };
}

/** Writes the report into the store, the page and then which runs it is said to show, and returns its faults. */
export async function writeReport({
  runs,
  ...options
}: ReportToWrite & Pick<StoredReport, 'runs'>): Promise<readonly string[]> {
  const { store, signal } = options;
  const { page, facts } = await printReport(options);
  const report: StoredReport = { version: 1, writtenAt: facts.writtenAt, runs };
  await store.put(REPORT_PAGE_KEY, page, { contentType: 'text/html; charset=utf-8', signal });
  await store.put(REPORT_KEY, printStored(report), { contentType: 'application/json', signal });
  return facts.faults;
}
