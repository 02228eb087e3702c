import type { SuiteName } from './suites/suites.ts';

/** A test that an engine fails by a fault of its own. A run fails as soon as such a test passes, or is gone. */
export type KnownDifference = {
  readonly suite: SuiteName;
  /** The engine's name as in the table of the run; several are joined by ` + `. */
  readonly engine: string;
  /** The whole name, the names of its groups first, each after a blank. */
  readonly test: string;
  /** What AWS documents. */
  readonly reason: string;
  /** What the engine does instead. */
  readonly does: string;
};

export const knownDifferences: readonly KnownDifference[] = [];
