import { defineConfig } from 'vitest/config';
import { InOrder, testsInProcess } from './in-order.ts';

/** The tests of one group, in the processes that Stryker starts. */
export default defineConfig({
  test: {
    include: [...testsInProcess()],
    // As in the tests of the project: a process imports each module once, so a mutant costs only its tests.
    isolate: false,
    sequence: { sequencer: InOrder },
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
