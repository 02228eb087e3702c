import type { Engine } from '../engines/engine.ts';

/** Test files that run once with these engines in place of the local AWS. One row of the table. */
export type Run = {
  /** They run at the same time, each for a service of its own. */
  readonly engines: readonly [Engine, ...Engine[]];
  /** Paths of test files from the root of the repository. */
  readonly files: readonly string[];
};

/** What `npm run conformance NAME` runs. */
export type Suite = readonly Run[];
