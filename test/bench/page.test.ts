import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

test('each figure in docs/measurements.md names the commit at which it was measured', async () => {
  const lines = (await readFile('docs/measurements.md', 'utf8')).split('\n');
  const rows = lines.filter((line) => /^\| (?!measured )/.test(line));
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter((line) => !/ \| `[0-9a-f]{8}`, \d{4}-\d\d-\d\d \|$/.test(line))).toEqual([]);
});
