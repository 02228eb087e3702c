import { pathToFileURL } from 'node:url';
import { findReport, REPORT_PAGE_KEY, type StoredReport } from '../../report/stored-report.ts';
import { missingObject, parseLocation, type Store } from '../../store/index.ts';
import { openStoreToRead } from '../options/from-settings.ts';
import { duration, exitCodes, inJson, shown, type Terminal } from '../terminal/terminal.ts';

/** A link to the report that is stored. */
type ReportLink = {
  readonly link: string;
  /** When it ends at the latest, as ISO 8601; null for a file, whose link does not end. */
  readonly until: string | null;
  /** True if it ends with the credentials that made it, which may be sooner. */
  readonly isTemporary: boolean;
};

/**
 * `report --link`: prints a link to the report in the store, for so many hours. Throws `StoredObjectError` if there is
 * none.
 */
export async function linkToReport(
  { hours, json }: { readonly hours: number; readonly json?: true | undefined },
  terminal: Terminal,
  now: () => number = Date.now,
): Promise<number> {
  const store = await openStoreToRead(terminal);
  const report = await findReport(store);
  if (report === undefined) throw missingObject(store, REPORT_PAGE_KEY, EXPECTED);
  const link = (await linkToFile(store)) ?? (await linkToObject(store, hours, terminal, now));
  const writtenAt = new Date(report.value.writtenAt).toISOString();
  if (json) terminal.out(inJson({ ...link, writtenAt, runs: report.value.runs }));
  else {
    terminal.out(shown(link.link));
    for (const line of remarksOn(link, report.value, now())) terminal.err(line);
  }
  return exitCodes.done;
}

const EXPECTED =
  'the report, which the function write-report writes within ten minutes of a publication (platform-sync report writes one here)';

async function linkToFile(store: Store): Promise<ReportLink | undefined> {
  const file = await store.fileOf?.(REPORT_PAGE_KEY);
  return file && { link: pathToFileURL(file.path).href, until: null, isTemporary: false };
}

async function linkToObject(
  { location }: Store,
  hours: number,
  { environment }: Terminal,
  now: () => number,
): Promise<ReportLink> {
  const place = parseLocation(location);
  if (place.kind !== 's3') throw missingObject({ location }, REPORT_PAGE_KEY, 'a file');
  const { bucket, prefix } = place;
  const key = `${prefix === '' ? '' : `${prefix}/`}${REPORT_PAGE_KEY}`;
  const { linkToObject: sign } = await import('../../store/s3-link.ts');
  const seconds = hours * 3_600;
  const { url, credentialsEnd, isTemporary } = await sign({ bucket, key, seconds, environment });
  const untilMs = Math.min(now() + hours * 3_600_000, credentialsEnd?.getTime() ?? Number.POSITIVE_INFINITY);
  return { link: url, until: new Date(untilMs).toISOString(), isTemporary };
}

function remarksOn(
  { until, isTemporary }: ReportLink,
  { writtenAt }: StoredReport,
  nowMs: number,
): readonly string[] {
  const age = duration(Math.max(0, Math.round((nowMs - writtenAt) / 1_000)));
  if (until === null) return [`written ${age} ago`];
  return [
    `written ${age} ago; whoever has the link can read it until ${until.slice(0, 16).replace('T', ' ')} UTC`,
    ...(isTemporary ? ['your credentials are temporary: the link ends when they do, if that is sooner'] : []),
  ];
}
