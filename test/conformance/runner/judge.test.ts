import { expect, test } from 'vitest';
import type { KnownDifference } from '../known-differences.ts';
import { judge, type Report } from './judge.ts';

const report = (...tests: Report['tests']): Report => ({ tests, broken: [] });
const passed = { name: 'a works', state: 'passed' } as const;
const failed = { name: 'b works', state: 'failed', reason: 'expected 1' } as const;
const differs = (test: string): KnownDifference => ({
  suite: 's3',
  engine: 'MinIO',
  test,
  reason: 'AWS refuses it.',
  does: 'It does not.',
});

const skipped = { name: 'c works', state: 'skipped' } as const;

test.for([
  [
    'differs',
    report(passed, failed),
    [],
    {
      tests: 2,
      passed: 1,
      failed: 1,
      knownDifferences: 0,
      failures: [{ name: 'b works', reason: 'expected 1' }],
    },
  ],
  [
    'differs only where it is known to',
    report(passed, failed),
    [differs('b works')],
    { tests: 2, passed: 1, failed: 0, knownDifferences: 1 },
  ],
  [
    'no longer differs',
    report(passed),
    [differs('a works')],
    { failed: 1, complaints: ['a works: MinIO no longer differs: remove it'] },
  ],
  [
    'lacks a test that is known to differ',
    report(passed, skipped),
    [differs('c works')],
    { tests: 1, failed: 1, complaints: ['c works: no such test: remove it'] },
  ],
  [
    'has a hook that throws',
    { ...report(passed, failed), broken: ['x.test.ts'] },
    [differs('b works')],
    { failed: 1, complaints: ['x.test.ts: broken outside its tests'] },
  ],
  ['has no tests', report(), [], { failed: 1, complaints: ['no test ran'] }],
] as const)('a run of the conformance tests that %s is judged correctly', ([, given, known, verdict]) => {
  expect(judge(given, known)).toMatchObject(verdict);
});
