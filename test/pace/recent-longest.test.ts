import { expect, test } from 'vitest';
import { createRecentLongest } from '../../lib/pace/recent-longest.ts';

test('the longest recent time fades with each shorter one, and what took over 2 s says nothing', () => {
  const longest = createRecentLongest();

  const seen = [100, 10, 90, 2_000, 2_001].map((tookMs) => {
    longest.add(tookMs);
    return Math.round(longest.ms());
  });

  expect(createRecentLongest().ms()).toBe(0);
  expect(seen).toEqual([100, 90, 90, 2_000, 1_800]);
});
