import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Vitest leaves one core to itself, though it only waits while the tests run.
    maxWorkers: availableParallelism(),
    // One process runs many files, which saves each its start and the imports: no test changes what a module holds.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // The CDK's own look at each template takes 4 s and only warns; synth.test.ts leaves it on, as the command has it.
    env: { CDK_VALIDATION: 'false' },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
