import { runtimeClient } from '../engines/runtime-client.ts';
import type { Suite } from './suite.ts';

/** The deployed bundles, run as Lambda runs them: what they print reaches the log as it is. */
export const lambda: Suite = [
  { engines: [runtimeClient], files: ['test/functions/log-format.conformance.ts'] },
];
