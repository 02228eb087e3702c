import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Bench, bounded } from './bench.ts';
import { differences, withRows } from './page.ts';

const bench: Bench = { name: 'scan', about: 'Of a scan.', run: async () => [] };
const row = (measured: string, value: string) => ({ measured, value });

const page = withRows(
  '# Measurements\n',
  bench,
  [row('200,000', '1.91, 2.05'), row('peak', '251 MB')],
  '`a1`',
);

test('a run replaces the rows that it measured, and leaves the others at their commit', () => {
  const other = withRows(page, { ...bench, name: 'jobs' }, [row('a job', '3 ms')], '`a1`');
  const again = withRows(other, bench, [bounded('peak', '270 MB', 'under 250 MB', false)], '`b2`');

  expect(again).toBe(`# Measurements

## scan

Of a scan.

| measured | value | bound | at |
|---|---|---|---|
| 200,000 | 1.91, 2.05 |  | \`a1\` |
| peak | 270 MB | under 250 MB: missed | \`b2\` |

## jobs

Of a scan.

| measured | value | bound | at |
|---|---|---|---|
| a job | 3 ms |  | \`a1\` |
`);
});

test('what differs from the page by more than its noise is said, and nothing else', () => {
  expect(differences(page, bench, [row('200,000', '1.99, 2.00'), row('new', '7')])).toEqual([]);
  expect(differences(page, bench, [row('200,000', '1.91, 3.00')])).toEqual([
    'scan, 200,000: 1.91, 2.05 (`a1`), now 1.91, 3.00',
  ]);
});

test('each figure of the page names the commit that it was measured at', async () => {
  const lines = (await readFile('docs/measurements.md', 'utf8')).split('\n');
  const rows = lines.filter((line) => /^\| (?!measured )/.test(line));
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter((line) => !/ \| `[0-9a-f]{8}`, \d{4}-\d\d-\d\d \|$/.test(line))).toEqual([]);
});
