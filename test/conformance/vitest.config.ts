import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../vitest.config.ts';

/** The configuration of `npm test`, with the files `*.conformance.ts` too, which need an engine. */
export default mergeConfig(base, defineConfig({ test: { include: ['test/**/*.conformance.ts'] } }));
