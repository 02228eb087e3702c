import { expect, test } from 'vitest';
import { timeMs } from '../../lib/platform/records.ts';

test.each([1_700_000_000_000, 0, -1.5, '1700000000000', 10n])('%s is read as epoch milliseconds', (sent) => {
  expect(timeMs(sent)).toBe(Number(sent));
});

test.each([
  ['2026-11-22T10:00:00Z', '2026-11-22T10:00:00.000Z'],
  ['2026-11-22T10:00:00', '2026-11-22T10:00:00.000Z'],
  ['2026-11-22 10:00', '2026-11-22T10:00:00.000Z'],
  ['2026-11-22T10:00:07.123456', '2026-11-22T10:00:07.123Z'],
  ['2026-11-22T10:00:07.1+02:00', '2026-11-22T08:00:07.100Z'],
  ['2026-11-22T10:00-0130', '2026-11-22T11:30:00.000Z'],
])('%s is read as %s', (created, iso) => {
  expect(new Date(timeMs(created)).toISOString()).toBe(iso);
});

test.each([
  [''],
  ['2026-11-22'],
  ['on 2026-11-22T10:00:00Z'],
  ['2026-11-22T10:00:00Z or so'],
  ['22026-11-22T10:00:00Z'],
  ['2026-11-22T10:00:00.Z'],
  ['2026-11-22T10:00:00+2'],
  ['2026-13-45T10:00:00Z'],
  ['10 days'],
  [true],
  [{}],
  [null],
  [undefined],
])('%s is not a time: NaN', (created) => {
  expect(timeMs(created)).toBeNaN();
});
