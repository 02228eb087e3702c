import { sourceDefinitions } from '../sources/sources.ts';
import { compareInPasses } from './compare-in-passes.ts';
import type { Comparison, ComparisonStep } from './comparison.ts';
import { KeyOrderError, mergeRuns } from './merge-runs.ts';

/**
 * What changed from one run to another. Records that are equal by the rules of their source are not a change; if a key
 * occurs twice in a run, the last record wins. Sources that are scanned in key order are merged, in that order. If a
 * run turns out not to be in order, `restart` is yielded and the runs are compared again in passes by key hash, each in
 * key order. Equal runs and bounds give the same changes in the same order. Throws `StoredObjectError` that names a
 * part that does not match its manifest; no change is certain before the end.
 */
export async function* compareRuns(comparison: Comparison): AsyncGenerator<ComparisonStep, void> {
  if (sourceDefinitions[comparison.source].records.inKeyOrder) {
    let yielded = 0;
    try {
      for await (const change of mergeRuns(comparison)) {
        yielded += 1;
        yield change;
      }
      return;
    } catch (error) {
      if (!(error instanceof KeyOrderError)) throw error;
      comparison.observe?.({ kind: 'not-in-key-order', reason: error.message });
    }
    if (yielded > 0) yield { change: 'restart' };
  }
  yield* compareInPasses(comparison);
}
