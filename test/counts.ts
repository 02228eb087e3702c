import { readFileSync } from 'node:fs';

/** How many checks passed and how many failed. */
export type Outcome = { readonly passed: number; readonly failed: number };

/** The part of the report by vitest's JSON reporter that is counted. */
export type Report = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
};

/**
 * Counts what passed and failed. A file that does not load, whose hook throws or whose process dies fails no test, but
 * counts as a failure all the same. So does an error outside all files, which only vitest's exit code reports.
 */
export function countsOf({ numPassedTests, numFailedTests, testResults }: Report, exitCode: number): Outcome {
  const files = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  );
  const failed = numFailedTests + files.length;
  return { passed: numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}

/** What a run of vitest counts by the report that it left, and which tests failed; a failure if there is no report. */
export function outcomeIn(
  file: string,
  exitCode: number,
): Outcome & { readonly failures: readonly string[] } {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    return { ...countsOf(report, exitCode), failures: failedIn(report) };
  } catch (error) {
    console.error(`vitest left no report that can be read: ${String(error)}`);
    return { passed: 0, failed: 1, failures: [] };
  }
}

/** The tests that failed, by the names of their groups and their own. */
export const failedIn = ({ testResults }: Report): readonly string[] =>
  testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  );
