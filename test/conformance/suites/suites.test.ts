import { existsSync, globSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { knownDifferences } from '../known-differences.ts';
import { engineOf, notRunIn, tableOf, totalOf } from '../runner/table.ts';
import { choose } from './suites.ts';

const all = choose([]);

describe('the words after `npm run conformance --`', () => {
  test('choose suites; none chooses all', () => {
    expect(new Set(choose(['s3']).map(({ suite }) => suite))).toEqual(new Set(['s3']));
    expect(all.length).toBeGreaterThan(choose(['s3']).length);
  });

  test('are refused if one names no suite', () => {
    expect(() => choose(['s3', 'sx'])).toThrow(/^suite: expected one of .*s3; .*, got "sx"$/);
  });
});

test('every file of a suite exists, and every file for an engine is in a suite', () => {
  const files = all.flatMap(({ run }) => run.files);

  expect(files.filter((file) => !existsSync(file))).toEqual([]);
  expect(globSync('test/**/*.conformance.ts').filter((file) => !files.includes(file))).toEqual([]);
});

test('every known difference belongs to a run', () => {
  const runs = new Set(all.map(({ suite, run }) => `${suite} on ${engineOf(run)}`));

  expect(knownDifferences.filter(({ suite, engine }) => !runs.has(`${suite} on ${engine}`))).toEqual([]);
});

test('the table has a row for each run, also for one that could not begin', () => {
  const [first, second] = choose(['s3']);
  const verdict = { tests: 3, passed: 2, failed: 1, knownDifferences: 0, complaints: [], durationMs: 1_600 };
  if (first === undefined || second === undefined) throw new Error('expected two runs');
  const rows = [
    { ...first, outcome: verdict },
    { ...second, outcome: { notRun: 'needs a|b\nc' } },
  ];

  expect(tableOf(rows).split('\n').slice(2)).toEqual([
    '| s3 | moto | 5.2.5 | 3 | 2 | 0 | 2 s |',
    '| s3 | versitygw | 1.8.0 | not run: needs a/b c |  |  |  |',
  ]);
  expect(notRunIn(rows)).toEqual(['not run: s3 on versitygw: needs a/b c']);
  expect(totalOf(rows)).toEqual({ passed: 2, failed: 1 });
});
