import { sourceDefinitions } from '../sources/sources.ts';
import { alignRuns, NotAlignedError } from './align-runs.ts';
import { textOfChange } from './change.ts';
import { compareByHash } from './compare-by-hash.ts';
import type { Comparison, ComparisonStep } from './comparison.ts';
import { mergeRuns } from './merge-runs.ts';
import { KeyOrderError } from './ordered-side.ts';

/**
 * What changed from one run to another. Records that are equal by the rules of their source are not a change; if a key
 * occurs twice in a run, the last record wins. Sources that are scanned in key order are merged, in that order; others
 * are read side by side, as long as their orders are about the same. If a run turns out not to be in order, `restart` is
 * yielded and the runs are compared again by the hashes of their keys.
 * Equal runs and bounds give the same changes in the same order. Throws `StoredObjectError` that names a part that does
 * not match its manifest; no change is certain before the end.
 */
export async function* compareRuns(comparison: Comparison): AsyncGenerator<ComparisonStep, void> {
  const { inKeyOrder } = sourceDefinitions[comparison.source].records;
  let yielded = 0;
  try {
    for await (const changes of inKeyOrder ? mergeRuns(comparison) : alignRuns(comparison)) {
      yielded += changes.length;
      yield* changes.map(textOfChange);
    }
    return;
  } catch (error) {
    if (error instanceof KeyOrderError)
      comparison.observe?.({ kind: 'not-in-key-order', reason: error.message });
    else if (!(error instanceof NotAlignedError)) throw error;
  }
  if (yielded > 0) yield { change: 'restart' };
  for await (const changes of compareByHash(comparison)) yield* changes.map(textOfChange);
}
