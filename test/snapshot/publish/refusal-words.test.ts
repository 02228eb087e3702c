import { expect, test } from 'vitest';
import { refusalWords, refusedAs } from '../../../lib/snapshot/publish/gates.ts';
import { publishedManifest } from '../published-manifest.ts';

test('a refused run says why, and with which numbers', () => {
  const words = refusalWords(
    publishedManifest({
      refused: ['degraded', 'unproved'],
      ...{ records: 19_950, totals: { start: 20_000, end: 20_010 }, passes: 2, order: 'created' },
      degradedPages: 3,
      calls: { requests: 1_204, retries: 3, throttled: 0, waitedMs: 0 },
    }),
  );

  expect(words).toEqual([
    expect.stringContaining('degraded: the platform kept reporting'),
    expect.stringContaining('unproved: it could not be proved'),
    'read: 19,950 records by 2 passes in the order of created; the platform counted 20,000 at the start and 20,010 at the end; 3 pages stayed degraded; 1,204 requests, 3 retries',
  ]);
});

test('a run that was refused for its size says what the gate required, and the sizes of earlier runs', () => {
  const words = (differences: object) =>
    refusalWords(publishedManifest({ refused: ['shrunk'], ...differences }))[0];

  expect(words({ minShare: 0.825, lastSizes: [20_010, 20_000, 19_990] })).toBe(
    'shrunk: fewer than 82.5% of the last run’s records (SYNC_GATES); the last 3 runs, newest first, had 20,010 · 20,000 · 19,990 records',
  );
  expect(words({ minShare: 0.5, lastSizes: [100] })).toBe(
    'shrunk: fewer than 50% of the last run’s records (SYNC_GATES); the last run had 100 records',
  );
  expect(words({ refused: ['empty'], lastSizes: [7, 8] })).toBe(
    'empty: no records, even though the last run had some; the last 2 runs, newest first, had 7 · 8 records',
  );
});

test('the reasons in one line have the number of pages that stayed degraded', () => {
  expect(refusedAs({ refused: ['degraded', 'shrunk'], degradedPages: 1 })).toBe('degraded (1 page), shrunk');
  expect(refusedAs({ refused: ['shrunk'] })).toBe('shrunk');
});

test('a run that was not refused says nothing', () => {
  expect(refusalWords(publishedManifest({ refused: [] }))).toEqual([]);
});
