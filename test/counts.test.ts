import { expect, test } from 'vitest';
import { countsOf, failedIn, type Report } from './counts.ts';

const file = (status: string, ...tests: readonly string[]) => ({
  status,
  name: 'test/some.test.ts',
  message: status === 'failed' ? 'SyntaxError: there\n  at line 3' : '',
  assertionResults: tests.map((each, at) => ({
    status: each,
    fullName: `test ${at}`,
    failureMessages: each === 'failed' ? ['AssertionError: expected 1\nto be 2'] : [],
  })),
});

const report: Report = {
  numPassedTests: 2,
  numFailedTests: 0,
  testResults: [file('passed', 'passed', 'passed')],
};

test('tests are counted as vitest counts them', () => {
  const failing: Report = {
    numPassedTests: 2,
    numFailedTests: 1,
    testResults: [file('failed', 'passed', 'failed'), file('passed', 'passed')],
  };

  expect(countsOf(report, 0)).toEqual({ passed: 2, failed: 0 });
  expect(countsOf(failing, 1)).toEqual({ passed: 2, failed: 1 });
  expect(failedIn(failing)).toEqual([{ name: 'test 1', reason: 'AssertionError: expected 1' }]);
});

test.each([
  ['does not load', file('failed')],
  ['has a hook that throws', file('failed', 'passed', 'skipped')],
  ['kills its process', file('failed', 'pending')],
])('a file that %s counts as a failure, in addition to the tests that failed', (_, broken) => {
  const testResults = [...report.testResults, broken];

  expect(failedIn({ ...report, testResults })).toEqual([
    { name: 'test/some.test.ts', reason: 'SyntaxError: there' },
  ]);
  expect(countsOf({ ...report, testResults }, 1)).toEqual({ passed: 2, failed: 1 });
  expect(countsOf({ ...report, testResults, numFailedTests: 3 }, 1)).toEqual({ passed: 2, failed: 4 });
});

test('an error that only the exit code reports counts as a failure', () => {
  expect(countsOf(report, 1)).toEqual({ passed: 2, failed: 1 });
});
