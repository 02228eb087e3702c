import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the page about hostile input names tests that exist, in every row', () => {
  // Tables are apart by an empty line; the others are figures.
  const tables = readFileSync('docs/hostile.md', 'utf8')
    .split('\n\n')
    .filter((paragraph) => paragraph.startsWith('| tried |'));
  const rows = tables.flatMap((table) => table.trimEnd().split('\n').slice(2));
  const paths = rows.map((row) => row.match(/(?<=`)test\/[^`]+/g) ?? []);

  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((_, at) => paths[at]?.length === 0)).toEqual([]);
  expect(paths.flat().filter((path) => !existsSync(path))).toEqual([]);
});
