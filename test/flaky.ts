import type { Failure, Outcome } from './counts.ts';

/** If more tests than this fail together, the failures have a cause and are not retried. */
const MAX = 3;

/**
 * The counts of a run after each failed test was tried again: one that passes twice alone is printed as flaky and
 * counts as passed. Only for tests that depend on the machine's present speed: a browser, a bench.
 */
export async function withoutFlaky(
  { passed, failed }: Outcome,
  failures: readonly Pick<Failure, 'name'>[],
  passesAlone: (name: string) => boolean | Promise<boolean>,
): Promise<Outcome> {
  let flaky = 0;
  for (const { name } of failures.length > MAX ? [] : failures)
    if ((await passesAlone(name)) && (await passesAlone(name))) {
      console.log(`flaky: ${name}`);
      flaky += 1;
    }
  return { passed: passed + flaky, failed: failed - flaky };
}
