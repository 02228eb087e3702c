/**
 * Milliseconds that a `Retry-After` header asks to wait: seconds or an HTTP date, as in RFC 9110, section 10.2.3.
 * A date in the past is 0. Undefined if the header is absent or neither of the two.
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const value = header.trim();
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  const date = /^[A-Za-z]{3,9},? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
