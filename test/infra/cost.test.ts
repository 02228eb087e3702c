import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { costOf, page } from './cost/page.ts';
import { FILESET, sizes } from './cost/sizes.ts';

test('docs/cost.md is what `npm run bench -- cost` computes', () => {
  expect(readFileSync('docs/cost.md', 'utf8')).toBe(page());
});

test.each(sizes)('$name costs at most $mostUsd USD on demand', (size) => {
  expect(costOf(size).onDemand).toBeLessThanOrEqual(size.mostUsd);
});

test('what nightly snapshots cost is of the configuration that docs/deploy.md shows', () => {
  const [, shown = ''] = /```json instances\n(.+?)```/s.exec(readFileSync('docs/deploy.md', 'utf8')) ?? [];
  const [, nightly] = sizes;
  const { instances } = JSON.parse(shown.replaceAll('5ab50524-9b3d-4a75-b88a-f20ea274b5d8', FILESET));

  expect(instances).toEqual([nightly?.instance]);
});

test('docs/deploy.md says the same, and README what nightly snapshots cost', () => {
  const table = readFileSync('docs/deploy.md', 'utf8');

  for (const size of sizes) {
    const { onDemand, afterFree } = costOf(size);
    expect(table).toContain(`| $${onDemand.toFixed(2)} | $${afterFree.toFixed(2)} |`);
  }
  const [, nightly] = sizes;
  expect(readFileSync('README.md', 'utf8')).toContain(
    `from $${nightly && costOf(nightly).onDemand.toFixed(2)} a month`,
  );
});
