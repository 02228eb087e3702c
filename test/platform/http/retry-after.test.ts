import { describe, expect, test } from 'vitest';
import { parseRetryAfter } from '../../../lib/platform/http/error-body.ts';

const nowMs = Date.UTC(2026, 9, 21, 7, 28, 0);

describe('Retry-After', () => {
  test.for([
    ['0', 0],
    ['7', 7_000],
    [' 120 ', 120_000],
    ['1.5', 1_500],
    ['0.0625', 63],
    ['Wed, 21 Oct 2026 07:28:30 GMT', 30_000],
    ['Wednesday, 21-Oct-26 07:28:30 GMT', 30_000],
    ['Wed Oct 21 07:28:30 2026 GMT', 30_000],
    ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
  ] as const)('of %j is %i ms', ([header, expectedMs]) => {
    expect(parseRetryAfter(header, nowMs)).toBe(expectedMs);
  });

  test.for([
    undefined,
    '',
    'soon',
    '-1',
    '+5',
    '1e3',
    '0x10',
    '2026-10-21',
    '21 Oct 2026 07:28:30 GMT',
    'Wed, 99 Foo 2026',
  ])('of %j is ignored', (header) => {
    expect(parseRetryAfter(header, nowMs)).toBeUndefined();
  });
});
