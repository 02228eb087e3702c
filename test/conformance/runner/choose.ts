import type { Run } from '../suites/suite.ts';
import { type SuiteName, suites } from '../suites/suites.ts';

export type Chosen = { readonly suite: SuiteName; readonly run: Run };

/** The runs that the words after `npm run conformance --` name: of all suites if none. Throws for a wrong word. */
export function choose(words: readonly string[]): readonly Chosen[] {
  const isQuick = words.includes('--quick');
  const requested = words.filter((word) => word !== '--quick');
  const names = Object.keys(suites) as SuiteName[];
  const wrong = requested.filter((word) => !names.some((name) => name === word));
  if (wrong.length > 0)
    throw new TypeError(`expected --quick or any of ${names.join(', ')}, got ${wrong.join(', ')}`);
  return names
    .filter((name) => requested.length === 0 || requested.includes(name))
    .flatMap((suite) => suites[suite].map((run) => ({ suite, run })))
    .filter(({ run }) => run.quick || !isQuick);
}
