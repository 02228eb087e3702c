import { freeMemory } from '../../base/index.ts';
import { type OpenedModel, openModel } from '../../model/index.ts';
import { readAgain } from '../../snapshot/read-again.ts';
import { type Source, sources } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/index.ts';
import type { ReportFacts } from '../facts.ts';
import { readBatches } from './batches.ts';
import { readFormulas } from './formulas.ts';
import { readJobs } from './jobs.ts';
import { type ListLimits, listLimits } from './listed.ts';
import { readDataFiles, readFiles } from './records.ts';
import { readSnapshots } from './snapshots.ts';
import { graphOf, listDatasets, listOwners, readCalculations, readCards } from './things.ts';

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
  const { store, now, signal } = options;
  const faults = new Set<string>();
  const addFault = (fault: string) => void faults.add(fault);
  const snapshots = await readSnapshots({ store, addFault, signal });
  const opened = await openModel({ ...options, addFault, addDamage: addFault });
  const things = await readThings(options, opened);
  // The garbage collector would free it late: it does not see how much it is.
  freeMemory(opened.model.graph.user);
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

/** What the model and the records that it is of say of things. */
async function readThings(
  { limits = listLimits, signal, now }: FactsToCollect,
  { model, runs, asOfMs, columns }: OpenedModel,
) {
  const recordsOf = (source: Source) =>
    runs.reduce((sum, run) => sum + (run.source === source ? run.manifest.records : 0), 0);
  const show = { model, columns, recordsOf, limits, signal };
  const calculations = columns.calculations && (await readCalculations(show));
  const cards = columns.cards && (await readCards(show));
  const datasets = listDatasets(model, limits);
  const nodes = [...datasets.nodes, ...(calculations?.nodes ?? []), ...(cards?.nodes ?? [])];
  return {
    model: { asOfMs, runs: Object.fromEntries(runs.map(({ place, manifest }) => [place, manifest.run])) },
    narrowed: sources.flatMap((source) => {
      const places = runs.filter((run) => run.source === source).map(({ place }) => place);
      return places.length === 0 || places.includes(source) ? [] : { source, places };
    }),
    calculations: calculations?.facts,
    cards: cards?.facts,
    datasets: calculations === undefined && cards === undefined ? undefined : datasets.facts,
    owners: runs.length === 0 ? undefined : listOwners(model, limits),
    graph: graphOf(model, nodes),
    files: columns.files && (await readFiles(show)),
    dataFiles: columns['data-files'] && (await readDataFiles(show, now())),
  };
}
