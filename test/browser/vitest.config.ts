import { defineConfig } from 'vitest/config';

/** Runs the files `*.browser.ts`, two at a time: each starts a browser, which uses most of a core. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.browser.ts'],
    pool: 'forks',
    maxWorkers: 2,
    isolate: false,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
