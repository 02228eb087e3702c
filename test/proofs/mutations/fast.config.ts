import { defineConfig } from 'vitest/config';
import { InOrder, testsInProcess } from './in-order.ts';

export default defineConfig({
  test: {
    include: process.env['TESTS']?.split(',') ?? [...testsInProcess()],
    isolate: false,
    sequence: { sequencer: InOrder },
    testTimeout: 20_000,
    hookTimeout: 20_000,
    testNamePattern:
      /^(?!.*(60,000 names|crash at any write|pass holds 1 texts|whatever fails, the counts|in any order of the|whatever the order of their|the other does all its work|while another ))/,
  },
});
