import { describe, expect, test } from 'vitest';
import type { KnownDifference } from '../known-differences.ts';
import { judge, type Report } from './judge.ts';

const report = (...tests: Report['tests']): Report => ({ tests, broken: [] });
const passed = { name: 'a works', state: 'passed' } as const;
const failed = { name: 'b works', state: 'failed' } as const;
const differs = (test: string): KnownDifference => ({
  suite: 's3',
  engine: 'MinIO',
  test,
  reason: 'AWS refuses it.',
  does: 'It does not.',
});

describe('a run', () => {
  test('that differs fails', () => {
    expect(judge(report(passed, failed), [])).toMatchObject({
      tests: 2,
      passed: 1,
      failed: 1,
      knownDifferences: 0,
    });
  });

  test('that differs only where it is known to does not fail', () => {
    expect(judge(report(passed, failed), [differs('b works')])).toMatchObject({
      tests: 2,
      passed: 1,
      failed: 0,
      knownDifferences: 1,
    });
  });

  test('that no longer differs fails until the difference is removed', () => {
    expect(judge(report(passed), [differs('a works')])).toMatchObject({
      failed: 1,
      complaints: ['a works: MinIO no longer differs: remove it'],
    });
  });

  test('without a test that is known to differ fails', () => {
    const skipped = { name: 'c works', state: 'skipped' } as const;

    expect(judge(report(passed, skipped), [differs('c works')])).toMatchObject({
      tests: 1,
      failed: 1,
      complaints: ['c works: no such test: remove it'],
    });
  });

  test('with a hook that throws fails, even if all else is known', () => {
    const broken = { ...report(passed, failed), broken: ['x.test.ts'] };

    expect(judge(broken, [differs('b works')])).toMatchObject({
      failed: 1,
      complaints: ['x.test.ts: broken outside its tests'],
    });
  });

  test('without tests fails', () => {
    expect(judge(report(), [])).toMatchObject({ failed: 1, complaints: ['no test ran'] });
  });
});
