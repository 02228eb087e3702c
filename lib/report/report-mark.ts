import { parseOwnJson } from '../json/json.ts';
import { type StoredReport, storedReportSchema } from './stored-report.ts';

/** What a page says of itself at its end, where no browser shows it. */
export type ReportMark = Omit<StoredReport, 'bytes'>;

/** A page with a mark at its end: so the page alone says how old it is, whatever lies beside it. */
export function withMark(page: Buffer, { version, writtenAt, startedAt, runs }: ReportMark): Buffer {
  const json = JSON.stringify({ version, writtenAt, startedAt, runs });
  // Nothing in it can end the comment.
  const safe = json.replaceAll(/[-<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
  return Buffer.concat([page, Buffer.from(`<!-- platform-sync report ${safe} -->\n`)]);
}

const LONGEST = 1024 * 1024;
const MARK = /<!-- platform-sync report (\{[^<>]*\}) -->\n$/;

/** What a stored page says of itself, with its size; undefined if it was not written by us. */
export function markOf(page: Buffer): StoredReport | undefined {
  const [, json] = MARK.exec(page.toString('utf8', Math.max(0, page.byteLength - LONGEST))) ?? [];
  if (json === undefined) return undefined;
  try {
    const mark = parseOwnJson(json) as object;
    return storedReportSchema.safeParse({ ...mark, bytes: page.byteLength }).data;
  } catch {
    return undefined;
  }
}
