import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../vitest.config.ts';

/** The configuration of `npm test`, with the files `*.conformance.ts` too, which need an engine. */
export default mergeConfig(
  base,
  // Engines and bundles start within seconds, but take minutes beside other suites.
  defineConfig({ test: { include: ['test/**/*.conformance.ts'], hookTimeout: 240_000 } }),
);
