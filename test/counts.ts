import { readFileSync } from 'node:fs';

/** How many checks passed and how many failed. */
export type Outcome = { readonly passed: number; readonly failed: number };

/** The part of the report of vitest's JSON reporter that is read here. */
export type Report = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly name: string;
    /** The reason why the file did not load, or the error of its hook. */
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
};

/** A failed test, named by its groups and its title, or a file that failed outside its tests, with the reason. */
export type Failure = { readonly name: string; readonly reason: string };

/**
 * Counts the tests that passed and failed. A file that does not load, whose hook throws or whose process dies has no
 * failed test, but counts as a failure. So does an error outside all files, which only vitest's exit code reports.
 */
export function countsOf({ numPassedTests, numFailedTests, testResults }: Report, exitCode: number): Outcome {
  const failed = numFailedTests + testResults.filter(isBroken).length;
  return { passed: numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}

/** The counts in the report of a vitest run, and the failed tests; a missing report is a failure. */
export function outcomeIn(
  file: string,
  exitCode: number,
): Outcome & { readonly failures: readonly Failure[] } {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    return { ...countsOf(report, exitCode), failures: failedIn(report) };
  } catch (error) {
    console.error(`vitest left no report that can be read: ${String(error)}`);
    return { passed: 0, failed: 1, failures: [] };
  }
}

/** The failures: tests, and files that failed outside their tests. */
export const failedIn = ({ testResults }: Report): readonly Failure[] =>
  testResults.flatMap((file) => {
    if (isBroken(file)) return [{ name: file.name, reason: firstLine(file.message) }];
    return file.assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => ({
        name: fullName,
        reason: firstLine(failureMessages?.[0] ?? ''),
      }));
  });

/** Formats a failure for the last lines of a run, which are all that CI shows of it. */
export const printFailure = ({ name, reason }: Failure): string =>
  `FAILED: ${name.length > 120 ? `${name.slice(0, 120)}…` : name}${reason === '' ? '' : `: ${reason}`}`;

/** A file that failed though none of its tests did. */
const isBroken = ({ status, assertionResults }: Report['testResults'][number]): boolean =>
  status === 'failed' && assertionResults.every((test) => test.status !== 'failed');

/** The first line of a message, at most 200 characters of it. */
export const firstLine = (message: string): string => (message.split('\n', 1)[0] ?? '').slice(0, 200);
