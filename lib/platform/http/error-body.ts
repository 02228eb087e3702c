import { type Hide, MAX_READ } from '../../base/index.ts';
import { parseJson } from '../../base/json/index.ts';

/** The platform's message and its reference (`toe`, or `errorCode`) in an error body. */
type ErrorBody = { readonly detail?: string; readonly reference?: string };

const MAX_DETAIL_LENGTH = 300;

/** Matches a reference, such as a number or `AB-12`. Private text does not have this form. */
const REFERENCE = /^\d+$|^[A-Z0-9]+(?:[-_][A-Z0-9]+)+$/;

/**
 * Reads `{status, statusReason, path?, message, toe}`, `{errorCode, errorMessage}`, `{message}`, a bare JSON
 * string, an HTML page, plain text, or nothing. Never throws. A reference is passed only through `hideToken`,
 * everything else through `hide`.
 */
export function readErrorBody(
  text: string,
  { hide, hideToken }: { readonly hide: Hide; readonly hideToken: Hide },
): ErrorBody {
  const worded = (words: string): ErrorBody => ({
    detail: shorten(hide(words.slice(0, MAX_READ)), MAX_DETAIL_LENGTH),
  });
  const title = pageTitle(text, hide);
  if (title !== undefined) return { detail: `a page titled “${title}”` };
  const value = tryParse(text);
  if (typeof value === 'string') return worded(value);
  if (typeof value !== 'object' || value === null) return {};
  const { message, errorMessage, error, statusReason, toe, errorCode } = value as Readonly<
    Record<string, unknown>
  >;
  const words = [message, errorMessage, error, statusReason].find(isFilled);
  const reference = [toe, typeof errorCode === 'number' ? String(errorCode) : errorCode].find(isFilled);
  return {
    ...(words === undefined ? {} : worded(words)),
    ...(reference === undefined
      ? {}
      : { reference: shorten((REFERENCE.test(reference) ? hideToken : hide)(reference), 100) }),
  };
}

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Matches the beginning of an HTML page, after comments and an XML declaration. */
const PAGE = /^\ufeff?\s*(?:<\?xml[^>]*>\s*|<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:!doctype html|html|head|body)/i;

/** The title of an HTML page, or `untitled` without a complete title; undefined if the text is not an HTML page. */
export function pageTitle(text: string, hide: Hide): string | undefined {
  if (!PAGE.test(text)) return undefined;
  const title = /<title[^>]*>([^<]*)</i.exec(text)?.[1]?.trim();
  return title ? shorten(hide(title.slice(0, MAX_READ)), 100) : 'untitled';
}

function shorten(text: string, max: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > max ? `${line.slice(0, max)}…` : line;
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text.trim() === '' ? undefined : text;
  }
}

/** The maximum wait that a `Retry-After` can cause, in milliseconds. */
const MAX_RETRY_AFTER_MS = 900_000;

/** A longer `Retry-After`, in milliseconds, is ignored, since it must be a mistake. */
const MAX_CREDIBLE_MS = 365 * 86_400_000;

/**
 * The milliseconds to wait according to a `Retry-After` header (RFC 9110, 10.2.3), at most 15 minutes; undefined if
 * it is invalid or in the past. A date counts from the response's `Date`, or without a `Date` from `nowMs` (epoch
 * milliseconds).
 */
export function parseRetryAfter(
  {
    'retry-after': given = '',
    date,
  }: { readonly 'retry-after'?: string | undefined; readonly date?: string | undefined },
  nowMs: number,
): number | undefined {
  const value = given.trim();
  const isSeconds = /^\d+(\.\d+)?$/.test(value);
  const untilMs = parseHttpDate(value, nowMs) - (parseHttpDate(date ?? '', nowMs) || nowMs);
  const ms = isSeconds ? Math.ceil(Number(value) * 1000) : untilMs;
  const isMeant = ms <= MAX_CREDIBLE_MS && (ms > 0 || isSeconds);
  return isMeant ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Matches `Wed, 21 Oct 2026 07:28:00 GMT`, and `Wednesday, 21-Oct-26 07:28:00 GMT` of RFC 850. */
const DAY_FIRST =
  /^[a-z]{3,9}, (?<day>\d\d?)[ -](?<month>[a-z]{3})[ -](?<year>\d{4}|\d\d) (?<time>\d\d:\d\d:\d\d) (?:gmt|utc)$/i;
/** Matches `Wed Oct 21 07:28:00 2026`, the format of asctime. */
const DAY_LAST =
  /^[a-z]{3} (?<month>[a-z]{3}) {1,2}(?<day>\d\d?) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})(?: gmt)?$/i;

/** Epoch milliseconds of a date in any format that HTTP allows (RFC 9110, 5.6.7), in UTC; NaN if it is invalid. */
function parseHttpDate(text: string, nowMs: number): number {
  const {
    day = '',
    month = '',
    year = '',
    time = '',
  } = (DAY_FIRST.exec(text) ?? DAY_LAST.exec(text))?.groups ?? {};
  const at = MONTHS.indexOf(month.toLowerCase());
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  if (at < 0 || Number(day) > 31 || hours > 23 || minutes > 59 || seconds > 60) return Number.NaN;
  const ofYear = (full: number) => Date.UTC(full, at, Number(day), hours, minutes, seconds);
  if (year.length === 4) return ofYear(Number(year));
  // A year of two digits is in this century, unless that is more than 50 years from now.
  const full = 2000 + Number(year);
  return ofYear(full > new Date(nowMs).getUTCFullYear() + 50 ? full - 100 : full);
}
