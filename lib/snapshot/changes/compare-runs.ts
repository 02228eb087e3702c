import { sourceDefinitions } from '../sources/sources.ts';
import { compareInPasses } from './compare-in-passes.ts';
import type { Comparison, ComparisonStep } from './comparison.ts';
import { KeyOrderError, mergeRuns } from './merge-runs.ts';

/**
 * What changed from one run to another. Records that hold the same by the rules of their source are no change; where a key
 * comes twice in a run, the last record counts. Sources that are scanned in key order are merged, in that order;
 * if one turns out not to be in it, `restart` is told and the runs are compared anew in passes by key hash, each
 * in key order. Equal runs and bounds give the same changes in the same order. Throws `StoredObjectError` that
 * names a part which is not what its manifest says; no change is certain before the end.
 */
export async function* compareRuns(comparison: Comparison): AsyncGenerator<ComparisonStep, void> {
  if (sourceDefinitions[comparison.source].records.inKeyOrder) {
    let told = 0;
    try {
      for await (const change of mergeRuns(comparison)) {
        told += 1;
        yield change;
      }
      return;
    } catch (error) {
      if (!(error instanceof KeyOrderError)) throw error;
      comparison.observe?.({ kind: 'not-in-key-order', reason: error.message });
    }
    if (told > 0) yield { change: 'restart' };
  }
  yield* compareInPasses(comparison);
}
