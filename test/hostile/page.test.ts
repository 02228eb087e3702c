import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the page about hostile input names tests that exist, in every row', () => {
  const rows = readFileSync('docs/hostile.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| tried '));
  const paths = rows.map((row) => row.match(/(?<=`)test\/[^`]+/g) ?? []);

  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((_, at) => paths[at]?.length === 0)).toEqual([]);
  expect(paths.flat().filter((path) => !existsSync(path))).toEqual([]);
});
