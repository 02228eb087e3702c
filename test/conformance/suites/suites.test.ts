import { existsSync, globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { knownDifferences } from '../known-differences.ts';
import { engineOf } from '../runner/table.ts';
import { choose } from './suites.ts';

const all = choose([]);

test('every file of a suite exists, and every file for an engine is in a suite', () => {
  const files = all.flatMap(({ run }) => run.files);

  expect(files.filter((file) => !existsSync(file))).toEqual([]);
  expect(globSync('test/**/*.conformance.ts').filter((file) => !files.includes(file))).toEqual([]);
});

test('every known difference names a suite and an engine that it runs on', () => {
  const runs = new Set(all.map(({ suite, run }) => `${suite} on ${engineOf(run)}`));

  expect(knownDifferences.filter(({ suite, engine }) => !runs.has(`${suite} on ${engine}`))).toEqual([]);
});
