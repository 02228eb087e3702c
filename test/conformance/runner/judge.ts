import type { Failure } from '../../counts.ts';
import type { KnownDifference } from '../known-differences.ts';

/** The outcomes of the tests of a run. */
export type Report = {
  readonly tests: readonly {
    readonly name: string;
    readonly state: 'passed' | 'failed' | 'skipped' | 'pending';
    /** The first line of the failure. */
    readonly reason?: string;
  }[];
  /** Failures outside the tests, with their reasons: files that did not load, hooks that threw. */
  readonly broken: readonly string[];
};

export type Verdict = {
  readonly tests: number;
  readonly passed: number;
  readonly failed: number;
  readonly knownDifferences: number;
  /** The tests that failed and are not known differences. */
  readonly failures: readonly Failure[];
  /** Reasons why a run fails although its tests had the expected outcomes. */
  readonly complaints: readonly string[];
};

/**
 * Counts the outcomes of a report. A known difference must fail: if it passes or does not exist, that is a failure, and
 * so is a run without tests.
 */
export function judge({ tests, broken }: Report, known: readonly KnownDifference[]): Verdict {
  const ran = tests.filter(({ state }) => state === 'passed' || state === 'failed');
  const stateOf = new Map(ran.map(({ name, state }) => [name, state]));
  const isKnown = new Set(known.map(({ test }) => test));
  const failed = ran.filter(({ state }) => state === 'failed');
  const failures = failed.filter(({ name }) => !isKnown.has(name));
  const complaints = [
    ...broken.map((where) => `${where}: broken outside its tests`),
    ...known.flatMap(({ test, engine }) => {
      const state = stateOf.get(test);
      if (state === 'failed') return [];
      return [`${test}: ${state === 'passed' ? `${engine} no longer differs` : 'no such test'}: remove it`];
    }),
    ...(ran.length === 0 ? ['no test ran'] : []),
  ];
  return {
    tests: ran.length,
    passed: ran.length - failed.length,
    failed: failures.length + complaints.length,
    knownDifferences: failed.length - failures.length,
    failures: failures.map(({ name, reason = '' }) => ({ name, reason })),
    complaints,
  };
}
