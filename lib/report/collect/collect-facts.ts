import { freeMemory } from '../../base/index.ts';
import { openModel } from '../../model/index.ts';
import { readAgain } from '../../snapshot/read-again.ts';
import { sources } from '../../snapshot/sources/sources.ts';
import { type Store, unlessDamaged } from '../../store/index.ts';
import type { ReportFacts } from '../facts.ts';
import type { PlatformLinks } from '../link-to.ts';
import { readBatches } from './batches.ts';
import { readBrokenSince } from './broken-since.ts';
import { readFormulas } from './formulas.ts';
import { readJobs } from './jobs.ts';
import { type ListLimits, listLimits } from './listed.ts';
import { readDataFiles, readFiles } from './records.ts';
import { readSnapshots } from './snapshots.ts';
import { graphOf, listDatasets, listOwners, readCalculations, readCards } from './things.ts';
import type { Reading } from './values.ts';

export type FactsToCollect = {
  readonly store: Store;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Where things are in the platform. Default: nowhere. */
  readonly links?: PlatformLinks | undefined;
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
  const { store, now, signal, links = {} } = options;
  const faults = new Set<string>();
  const addFault = (fault: string) => void faults.add(fault);
  const reading = { store, addFault, signal };
  const snapshots = await readSnapshots(reading);
  const { calculations, ...things } = await readThings(options, addFault);
  const { manifests } = snapshots.find(({ facts }) => facts.place === 'calculations') ?? {};
  const brokenSince = manifests && (await readBrokenSince({ ...reading, manifests, calculations }));
  const { jobs, batchEnds } = await readJobs({ ...reading, nowMs: now() });
  const formulas = await readFormulas(reading);
  const batches = await readBatches({ ...reading, ends: batchEnds });
  const newest = snapshots.toSorted((a, b) => b.facts.startedAt - a.facts.startedAt)[0];
  return {
    writtenAt: now(),
    platform: newest?.manifest.platform,
    snapshots: snapshots.map(({ facts }) => facts),
    ...things,
    calculations: calculations && { ...calculations, brokenSince },
    ...{ links, formulas, batches, jobs },
    faults: [...faults],
  };
}

type ThingFacts = Pick<
  ReportFacts,
  'model' | 'narrowed' | 'calculations' | 'cards' | 'datasets' | 'owners' | 'files' | 'dataFiles' | 'graph'
>;

/** What the model and the records that it is of say of things: nothing if any of these is damaged. */
async function readThings(
  { store, now, signal, limits = listLimits }: FactsToCollect,
  addFault: Reading['addFault'],
): Promise<ThingFacts> {
  try {
    const { model, runs, asOfMs, columns } = await openModel({ store, now, addFault, signal });
    const show = { model, columns, limits, signal };
    const calculations = columns.calculations && (await readCalculations(show));
    const cards = columns.cards && (await readCards(show));
    const datasets = listDatasets(model, limits);
    const facts: ThingFacts = {
      model: { asOfMs, runs: Object.fromEntries(runs.map(({ place, manifest }) => [place, manifest.run])) },
      narrowed: sources.flatMap((source) => {
        const places = runs.filter((run) => run.source === source).map(({ place }) => place);
        return places.length === 0 || places.includes(source) ? [] : { source, places };
      }),
      calculations: calculations?.facts,
      cards: cards?.facts,
      datasets: calculations === undefined && cards === undefined ? undefined : datasets.facts,
      owners: runs.length === 0 ? undefined : listOwners(model, limits),
      graph: graphOf(
        model,
        [datasets, calculations, cards].flatMap((listed) => listed?.nodes ?? []),
      ),
      files: columns.files && (await readFiles(show)),
      dataFiles: columns['data-files'] && (await readDataFiles(show, now())),
    };
    // The garbage collector would free it late: it does not see how much it is.
    freeMemory(model.graph.user);
    return facts;
  } catch (error) {
    unlessDamaged(addFault)(error);
    const graph = { others: [], user: [], used: [], relation: [], invalid: [] };
    return { model: { asOfMs: now(), runs: {} }, narrowed: [], graph };
  }
}
