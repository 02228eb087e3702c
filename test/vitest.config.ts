import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { compileCache } from './compile-cache.ts';
import { LongestFirst } from './longest-first.ts';
import { scaled } from './scale.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/record-calls.ts'],
    pool: 'forks',
    // Most of what tests allocate is short-lived: a larger young generation saves a fifteenth of their CPU time.
    execArgv: ['--max-semi-space-size=64'],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Three more than there are cores, since tests spend half of the time waiting for polls, kills and leases.
    maxWorkers: availableParallelism() + 3,
    // One process runs many files, which saves start-up and imports: no test changes a module's state.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // The CDK's own check of each template takes 4 s and only warns; synth.test.ts leaves it on, as the command does.
    // Stack traces of constructs, which only its messages need, take a tenth of a synth.
    env: { CDK_VALIDATION: 'false', CDK_DISABLE_STACK_TRACE: '1', ...compileCache },
    testTimeout: scaled(60_000, 120_000),
    hookTimeout: 30_000,
  },
});
