import {
  columnsOfRuns,
  computeModel,
  isStating,
  lastRuns,
  makeUses,
  openModel,
  renewModel,
} from '../../lib/model/index.ts';
import { whereUsed } from '../../lib/report/graph/where-used.ts';
import { openStore } from '../../lib/store/open.ts';
import { makeAllTables } from './report-records.ts';

/*
 * One step of the model over a store: `model-process.ts STEP STORE [ID]`. `tables` makes the Parquet and the uses that the
 * others read, `extract` the uses alone; `compute` computes the model, `renew` stores it too, `where-used` finds what depends
 * on a dataset, and `most-used` prints which most things use. Prints what it took as one line of JSON: CPU seconds and the
 * most memory of the process.
 */

const [step = '', location = '', id = ''] = process.argv.slice(2);
const store = await openStore(location);
function addFault(fault: string): never {
  throw new Error(fault);
}
const options = { store, now: Date.now, addFault };

async function extract(): Promise<number> {
  let records = 0;
  for (const { source, manifest } of (await lastRuns(store, ['calculations', 'cards'], addFault)).runs)
    for (const part of manifest.parts) {
      if (isStating(source)) await makeUses({ store, source, part });
      records += part.records;
    }
  return records;
}

async function compute(): Promise<number> {
  const { runs } = await lastRuns(store, ['calculations', 'cards'], addFault);
  return (await computeModel(columnsOfRuns({ store, runs }))).packed.calculations.nodes.length;
}

async function mostUsed(): Promise<string> {
  const { model } = await openModel(options);
  return model.datasets().toSorted((a, b) => b.calculations - a.calculations)[0]?.dataset_id ?? '';
}

const steps: Readonly<Record<string, () => Promise<unknown>>> = {
  tables: () => makeAllTables(location),
  extract,
  compute,
  renew: () => renewModel(options),
  'most-used': mostUsed,
  'where-used': async () => (await whereUsed({ store, id, kind: 'dataset', most: 1_000 })).found[0]?.total,
};

const found = await steps[step]?.();
const { user, system } = process.cpuUsage();
const cpuSeconds = (user + system) / 1e6;
console.log(JSON.stringify({ cpuSeconds, peakMb: process.resourceUsage().maxRSS / 1_000, found }));
