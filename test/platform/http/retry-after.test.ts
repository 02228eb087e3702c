import { describe, expect, test } from 'vitest';
import { parseRetryAfter } from '../../../lib/platform/http/error-body.ts';

const nowMs = Date.UTC(2026, 9, 21, 7, 28, 0);

const atDate = (header: string, date: string) => parseRetryAfter({ 'retry-after': header, date }, nowMs);

describe('Retry-After', () => {
  test.each([
    'Thu, 01 Jan 2026 00:00:30 GMT',
    'Thursday, 01-Jan-26 00:00:30 GMT',
    'Thu Jan  1 00:00:30 2026',
    'Thu Jan 01 00:00:30 2026',
  ])('as a date (%s) counts from the date of the response, in any format', (header) => {
    for (const date of ['Thu, 01 Jan 2026 00:00:00 GMT', 'Thu Jan  1 00:00:00 2026'])
      expect(atDate(header, date)).toBe(30_000);
  });

  test('as a date counts from now if the response has no readable date', () => {
    for (const date of ['', 'yesterday', 'Wed, 99 Foo 2026 00:00:00 GMT'])
      expect(atDate('Wed, 21 Oct 2026 07:28:30 GMT', date)).toBe(30_000);
  });

  test('with a year of two digits is of this century, or of the last', () => {
    expect(atDate('Sunday, 06-Nov-94 08:49:37 GMT', 'Sun, 06 Nov 1994 08:49:00 GMT')).toBe(37_000);
  });

  test('with a year of two digits is of this century up to 50 years from now', () => {
    expect(atDate('Wednesday, 21-Oct-76 07:28:30 GMT', 'Wed, 21 Oct 2076 07:28:00 GMT')).toBe(30_000);
    expect(atDate('Friday, 21-Oct-77 07:28:30 GMT', 'Fri, 21 Oct 1977 07:28:00 GMT')).toBe(30_000);
  });

  test('as a date may be the last second of a day and a month, or a leap second', () => {
    expect(atDate('Sat, 31 Oct 2026 23:59:59 GMT', 'Sat, 31 Oct 2026 23:59:29 GMT')).toBe(30_000);
    expect(atDate('Sat, 31 Oct 2026 23:59:60 GMT', 'Sat, 31 Oct 2026 23:59:30 GMT')).toBe(30_000);
  });

  test('is capped at 15 minutes', () => {
    for (const header of ['900', '3600', '86400', 'Wed, 21 Oct 2026 19:00:00 GMT'])
      expect(parseRetryAfter({ 'retry-after': header }, nowMs)).toBe(900_000);
  });

  test('means the same in every time zone', () => {
    const before = process.env['TZ'];
    try {
      for (const zone of ['Pacific/Kiritimati', 'America/Los_Angeles', 'Asia/Kolkata']) {
        process.env['TZ'] = zone;
        expect(atDate('Thu Jan  1 00:00:30 2026', 'Thursday, 01-Jan-26 00:00:00 GMT')).toBe(30_000);
      }
    } finally {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    }
  });

  test.for([
    ['0', 0],
    ['7', 7_000],
    [' 120 ', 120_000],
    ['1.5', 1_500],
    ['0.0625', 63],
    ['31536000', 900_000],
    ['Wed, 21 Oct 2026 07:28:30 GMT', 30_000],
    ['Wednesday, 21-Oct-26 07:28:30 GMT', 30_000],
    ['Wed Oct 21 07:28:30 2026 GMT', 30_000],
  ] as const)('%j means %i ms', ([header, expectedMs]) => {
    expect(parseRetryAfter({ 'retry-after': header }, nowMs)).toBe(expectedMs);
  });

  test.for([
    undefined,
    '',
    'soon',
    '+5',
    '1e3',
    '0x10',
    '2026-10-21',
    '21 Oct 2026 07:28:30 GMT',
    'Wed, 99 Foo 2026',
    '9999999999',
    '31536001',
    '-7',
    'Tue, 20 Oct 2026 07:28:00 GMT',
    'Fri, 31 Dec 9999 23:59:59 GMT',
    'Wed, 32 Oct 2026 07:28:30 GMT',
    'Wed, 21 Oct 2026 24:28:30 GMT',
    'Wed, 21 Oct 2026 07:60:30 GMT',
    'Wed, 21 Oct 2026 07:28:61 GMT',
    'Wed, 21 Oct 2026 09:28:30 +0200',
    'Wed, 21 Oct 2026 07:28:00 GMT',
    'Wed, 21 Oct 2026 07:27:00 GMT',
  ])('%j is ignored', (header) => {
    expect(parseRetryAfter({ 'retry-after': header }, nowMs)).toBeUndefined();
  });
});
