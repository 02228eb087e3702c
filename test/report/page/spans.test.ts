import { expect, test } from 'vitest';
import { spansOf } from '../../../lib/report/page/charts/spans.ts';

const DAY_MS = 86_400_000;

/** Days with one positive text each, beginning with a Thursday. */
const daysOf = (length: number) =>
  Array.from({ length }, (_, index) => ({
    day: new Date(Date.UTC(2026, 0, 1) + index * DAY_MS).toISOString().slice(0, 10),
    sentiments: { positive: 1, negative: 0, neutral: 0, not_applicable: 2, other: 0 },
  }));

test.each([
  [28, 'day', 28, '2026-01-01', 1],
  [120, 'week', 18, '2025-12-29', 4],
  [900, 'month', 30, '2026-01', 31],
] as const)('a chart of %d days has one bar for each %s', (length, by, bars, first, inFirst) => {
  const found = spansOf(daysOf(length));

  expect(found.by).toBe(by);
  expect(found.spans).toHaveLength(bars);
  expect(found.spans[0]).toMatchObject({ day: first, sentiments: { positive: inFirst } });
  expect(found.spans.reduce((sum, { sentiments }) => sum + sentiments.not_applicable, 0)).toBe(2 * length);
});
