import { readAgain } from '../../snapshot/read-again.ts';
import type { Store } from '../../store/store.ts';
import type { ReportFacts } from '../facts.ts';
import { readBatches } from './batches.ts';
import { readFormulas } from './formulas.ts';
import { readJobs } from './job-results.ts';
import { type ListLimits, listLimits } from './list-limits.ts';
import { readSnapshots } from './snapshots.ts';
import { readThings } from './things.ts';

export type FactsToCollect = {
  readonly store: Store;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Default: `MOST_WHOLE` and `MOST_LISTED`. */
  readonly limits?: ListLimits;
};

/**
 * Reads what the report shows. What is missing or damaged becomes a fault, and the rest holds; only a store that is away
 * and an abort are thrown. Memory grows with the model alone: see `computeModel`.
 */
export const collectFacts = (options: FactsToCollect): Promise<ReportFacts> =>
  readAgain(
    () => collectOnce(options),
    ({ faults }) => faults,
  );

async function collectOnce(options: FactsToCollect): Promise<ReportFacts> {
  const { store, now, signal, limits = listLimits } = options;
  const faults = new Set<string>();
  const addFault = (fault: string) => void faults.add(fault);
  const snapshots = await readSnapshots({ store, addFault, signal });
  const things = await readThings({ store, now, addFault, signal, limits });
  const { jobs, batchEnds } = await readJobs({ store, nowMs: now(), addFault, signal });
  const others = {
    formulas: await readFormulas({ store, addFault, signal }),
    batches: await readBatches({ store, ends: batchEnds, addFault, signal }),
    jobs,
  };
  const newest = snapshots.toSorted((a, b) => b.facts.startedAt - a.facts.startedAt)[0];
  return {
    version: 1,
    writtenAt: now(),
    platform: newest?.manifest.platform,
    store: store.location,
    snapshots: snapshots.map(({ facts }) => facts),
    ...things,
    ...others,
    faults: [...faults],
  };
}
