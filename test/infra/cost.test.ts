import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { costOf, page } from './cost/page.ts';
import { sizes } from './cost/sizes.ts';

test('docs/cost.md is what `npm run bench -- cost` computes', () => {
  expect(readFileSync('docs/cost.md', 'utf8')).toBe(page());
});

test.each(sizes.filter(({ mostUsd }) => mostUsd !== undefined))(
  '$name costs at most $mostUsd USD',
  (size) => {
    expect(costOf(size).afterFree).toBeLessThanOrEqual(size.mostUsd ?? 0);
  },
);

test('docs/deploy.md says the same, and README the least', () => {
  const table = readFileSync('docs/deploy.md', 'utf8');

  for (const size of sizes) {
    const { onDemand, afterFree } = costOf(size);
    expect(table).toContain(`| $${onDemand.toFixed(2)} | $${afterFree.toFixed(2)} |`);
  }
  const [least] = sizes;
  expect(readFileSync('README.md', 'utf8')).toContain(
    `from $${least && costOf(least).onDemand.toFixed(2)} a month`,
  );
});
