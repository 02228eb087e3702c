import { readFileSync } from 'node:fs';
import { matchesGlob, relative } from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { processSettings } from './changes.ts';
import { groups } from './groups.ts';
import type { Instrumented } from './instrument.ts';

/** Replaces the code of a group by its instrumented code. */
function changed(): Plugin {
  const settings = processSettings();
  const { code }: Pick<Instrumented, 'code'> =
    settings === undefined ? { code: {} } : JSON.parse(readFileSync(settings.instrumentedFile, 'utf8'));
  return { name: 'changed', enforce: 'pre', transform: (_original, id) => code[relative('.', id)] };
}

/** The tests of the group that this process runs. Default: the tests of all groups. */
function testsInProcess(): readonly string[] {
  const group = processSettings()?.group;
  return group === undefined ? Object.values(groups).flatMap(({ tests }) => tests) : groups[group].tests;
}

/** Runs the files in the order in which their group lists them, since a change costs the time until its first failure. */
class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const tests = testsInProcess();
    const rankOf = ({ moduleId }: TestSpecification) =>
      tests.findIndex((glob) => matchesGlob(relative('.', moduleId), glob));
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

/** Runs the tests of one group, in a process that `run-tests.ts` starts. */
export default defineConfig({
  plugins: [changed()],
  test: {
    include: [...testsInProcess()],
    runner: 'test/proofs/mutations/mutant-runner.ts',
    // One thread imports each module once, so a change costs only its tests.
    pool: 'threads',
    maxWorkers: 1,
    isolate: false,
    sequence: { sequencer: InOrder },
    // The cache key does not include the changes in a module.
    fsModuleCache: false,
    // An unhandled error that a change causes does not belong to any test.
    dangerouslyIgnoreUnhandledErrors: true,
    // The time limit of a test with a change is set by `MutantRunner`.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    reporters: ['dot'],
  },
});
