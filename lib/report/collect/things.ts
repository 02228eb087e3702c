import { type OpenedModel, openModel } from '../../model/index.ts';
import { type Source, sources } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import type { ReportFacts } from '../facts.ts';
import { readCalculations } from './calculations.ts';
import { readCards } from './cards.ts';
import { readDataFiles } from './data-files.ts';
import { listDatasets } from './datasets.ts';
import { readFiles } from './files.ts';
import { graphOf } from './graph.ts';
import type { ListLimits } from './list-limits.ts';
import { listOwners } from './owners.ts';

export type ThingsToRead = {
  readonly store: Store;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly addFault: (fault: string) => void;
  readonly limits: ListLimits;
  readonly signal: AbortSignal;
};

type ThingFacts = Pick<
  ReportFacts,
  'model' | 'narrowed' | 'calculations' | 'cards' | 'datasets' | 'owners' | 'graph' | 'files' | 'dataFiles'
>;

/** What the model and the records that it is of say of things. Nothing if what is stored of them is damaged as a whole. */
export async function readThings(options: ThingsToRead): Promise<ThingFacts> {
  try {
    return await readOpened(options, await openModel(options));
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    options.addFault(error.message);
    return nothing;
  }
}

const nothing: ThingFacts = {
  model: undefined,
  narrowed: [],
  calculations: undefined,
  cards: undefined,
  datasets: undefined,
  owners: undefined,
  graph: {
    datasets: 0,
    calculations: 0,
    cards: 0,
    others: [],
    user: [],
    used: [],
    relation: [],
    invalid: [],
  },
  files: undefined,
  dataFiles: undefined,
};

async function readOpened(
  { limits, signal, now }: ThingsToRead,
  { model, runs, asOfMs, columns }: OpenedModel,
): Promise<ThingFacts> {
  const recordsOf = (source: Source) =>
    runs.reduce((sum, run) => sum + (run.source === source ? run.manifest.records : 0), 0);
  const show = { model, columns, recordsOf, limits, signal };
  const calculations = columns.calculations && (await readCalculations(show));
  const cards = columns.cards && (await readCards(show));
  const datasets = listDatasets(model, limits);
  const toList = (name: Source) => {
    const source = columns[name];
    return source && { source, records: recordsOf(name), limits, signal };
  };
  const [files, dataFiles] = [toList('files'), toList('data-files')];
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
    graph: graphOf(model, {
      dataset: datasets.nodes,
      calculation: calculations?.nodes ?? [],
      card: cards?.nodes ?? [],
    }),
    files: files && (await readFiles(files)),
    dataFiles: dataFiles && (await readDataFiles(dataFiles, now())),
  };
}
