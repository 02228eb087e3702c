import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readGrants } from './grants.ts';
import { reasonFor, reasons } from './not-called.ts';
import { PAGE, printPage, readRows, rowsOf } from './page.ts';

/* `npm run test:processes` checks, after the tests that start processes, that each test makes the calls that the page lists. */

const page = readFileSync(PAGE, 'utf8');
const rows = readRows(page);
const lineOf = ({ who, action, on }: (typeof rows)[number]) => `${who} may ${action} on ${on}`;

test('the page of permissions has every grant of the template, and no other', () => {
  const grants = readGrants().map((grant) => lineOf({ ...grant, by: '' }));

  expect(rows.map(lineOf).toSorted()).toEqual(grants.toSorted());
  expect(page).toBe(printPage(rows));
});

test('each grant is covered by an existing test, or has a reason why not', () => {
  const wrong = rows.filter((row) =>
    row.by.startsWith('test/') ? !existsSync(row.by) : row.by !== reasonFor(row),
  );

  expect(wrong).toEqual([]);
});

test('each reason belongs to a grant of the template', () => {
  const given = new Set(rows.map(({ by }) => by));

  expect(reasons.filter(({ why }) => !given.has(why))).toEqual([]);
});

test('a grant that no test exercises names no test in its row', () => {
  const grant = { who: 'Role', action: 's3:GetObject', on: 'bucket/a/*' };
  const calls = (resource: string) => [
    { test: 'test/a.test.ts', calls: [{ by: 'Role0123ABCD', action: 's3:GetObject', resource }] },
  ];

  const granted = [{ ...grant, patterns: ['bucket/a/*'] }];
  expect(rowsOf(granted, calls('arn:aws:s3:::bucket/b/c'), [])).toEqual([{ ...grant, by: '' }]);
  expect(rowsOf(granted, calls('arn:aws:s3:::bucket/a/c'), [])).toEqual([{ ...grant, by: 'test/a.test.ts' }]);
  // A test that no longer uses the grant is not named.
  expect(rowsOf(granted, [], [{ ...grant, by: 'test/a.test.ts' }])).toEqual([{ ...grant, by: '' }]);
});
