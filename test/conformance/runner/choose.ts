import { oneOf } from '../../proofs/usage.ts';
import type { Run } from '../suites/suite.ts';
import { type SuiteName, suites } from '../suites/suites.ts';

export type Chosen = { readonly suite: SuiteName; readonly run: Run };

const NAMES = Object.keys(suites) as readonly SuiteName[];

/** The runs of the suites that are named: of all if none is. Throws for a wrong name. */
export function choose(names: readonly string[]): readonly Chosen[] {
  const chosen = names.map((name) => oneOf('suite', name, NAMES));
  return NAMES.filter((name) => chosen.length === 0 || chosen.includes(name)).flatMap((suite) =>
    suites[suite].map((run) => ({ suite, run })),
  );
}
