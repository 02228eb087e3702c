import { sourceOf } from '../../snapshot/keys.ts';
import { readAgain } from '../../snapshot/read-again.ts';
import type { Source } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import type { ReportFacts } from '../facts.ts';
import { readBatches } from './batches.ts';
import { readCatalog } from './catalog.ts';
import { readDataFiles } from './data-files.ts';
import { readFiles } from './files.ts';
import { readFormulas } from './formulas.ts';
import { readJobs } from './job-results.ts';
import { type ListLimits, listLimits } from './list-limits.ts';
import { openRun, type RunRecords } from './run-records.ts';
import { type PublishedSnapshot, readSnapshots } from './snapshots.ts';

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
 * and an abort are thrown. Memory does not grow with the records but for some 30 bytes each.
 */
export const collectFacts = (options: FactsToCollect): Promise<ReportFacts> =>
  readAgain(
    () => collectOnce(options),
    ({ faults }) => faults,
  );

async function collectOnce(options: FactsToCollect): Promise<ReportFacts> {
  const { store, now, signal, limits = listLimits } = options;
  const faults: string[] = [];
  const addFault = (fault: string) => void faults.push(fault);
  const snapshots = await readSnapshots({ store, addFault, signal });
  const runOf = (source: Source): RunRecords | undefined => {
    const snapshot = snapshotOf(source, snapshots);
    return snapshot && openRun({ store, manifest: snapshot.manifest, addFault, signal });
  };
  const catalog = await readCatalog({
    calculations: runOf('calculations'),
    cards: runOf('cards'),
    limits,
  });
  const [files, dataFiles] = [runOf('files'), runOf('data-files')];
  const { jobs, batchEnds } = await readJobs({ store, nowMs: now(), addFault, signal });
  const others = {
    files: files && (await readFiles(files, limits)),
    dataFiles: dataFiles && (await readDataFiles(dataFiles, limits, now())),
    formulas: await readFormulas({ store, addFault, signal }),
    batches: await readBatches({ store, ends: batchEnds, addFault, signal }),
    jobs,
  };
  return {
    version: 1,
    writtenAt: now(),
    platform: newestOf(snapshots)?.manifest.platform,
    store: store.location,
    snapshots: snapshots.map(({ facts }) => facts),
    faults,
    ...catalog,
    ...others,
  };
}

/** The snapshot whose records are shown: that of the whole source, or else the newest narrowed one. */
const snapshotOf = (source: Source, snapshots: readonly PublishedSnapshot[]): PublishedSnapshot | undefined =>
  snapshots.find(({ place }) => place === source) ??
  newestOf(snapshots.filter(({ place }) => sourceOf(place) === source));

const newestOf = (snapshots: readonly PublishedSnapshot[]): PublishedSnapshot | undefined =>
  snapshots.toSorted((a, b) => b.facts.startedAt - a.facts.startedAt)[0];
