import {
  adjacencyOf,
  computeModel,
  createThings,
  lastRuns,
  type ModelColumns,
  makeUses,
  reach,
  readUses,
  type SourceColumns,
} from '../../lib/model/index.ts';
import { type Source, sourceDefinitions } from '../../lib/snapshot/sources/sources.ts';
import { openStore } from '../../lib/store/open.ts';
import { makeParquet } from '../../lib/tables/made/make-parquet.ts';

/*
 * One step of the model over a store: `model-process.ts STEP STORE`, where STEP is `tables`, `extract`, `compute` or
 * `closure`. `tables` makes the Parquet that the others read, `extract` the uses too. Prints what it took as one line of
 * JSON: CPU seconds of the step alone, and the most memory of the process.
 */

const [step = '', location = ''] = process.argv.slice(2);
const store = await openStore(location);
const { runs } = await lastRuns(store, ['calculations', 'cards'], (fault) => {
  throw new Error(fault);
});

const keyOf = (key: string, what: string) => `bench-columns/${key}.${what}`;

async function eachPart(what: 'records' | 'uses'): Promise<number> {
  let records = 0;
  for (const { source, manifest } of runs)
    for (const part of manifest.parts) {
      if (source !== 'calculations' && source !== 'cards') continue;
      const made =
        what === 'records'
          ? await makeParquet({ store, part }, sourceDefinitions[source].columns)
          : await makeUses(source, { store, part });
      records += made.records;
      await store.put(keyOf(part.key, what), made.body);
    }
  return records;
}

function columns(): ModelColumns {
  const found: Partial<Record<Source, SourceColumns>> = {};
  for (const { source, manifest } of runs) {
    const file = (key: string, what: string) => ({
      key,
      read: async () => {
        const stored = await store.get(keyOf(key, what));
        if (stored === undefined) throw new Error(`${key}: no ${what}`);
        return new Uint8Array(stored.body);
      },
    });
    found[source] = {
      isWhole: true,
      parts: manifest.parts.map(({ key }) => ({ records: file(key, 'records'), uses: file(key, 'uses') })),
    };
  }
  return found;
}

async function compute(): Promise<number> {
  const model = await computeModel(columns());
  return model.calculations.length;
}

/** What depends on the dataset that most things use. */
async function closure(): Promise<number> {
  const things = createThings();
  const { user, used } = await readUses(columns(), things);
  const users = adjacencyOf({ nodes: things.count(), from: used, to: user });
  let most = 0;
  for (let node = 0; node < things.count(); node += 1)
    if (
      (users.starts[node + 1] ?? 0) - (users.starts[node] ?? 0) >
      (users.starts[most + 1] ?? 0) - (users.starts[most] ?? 0)
    )
      most = node;
  return reach(users, [most]).nodes.length;
}

const steps: Readonly<Record<string, () => Promise<number>>> = {
  tables: () => eachPart('records'),
  extract: () => eachPart('uses'),
  compute,
  closure,
};

const before = process.cpuUsage();
const count = (await steps[step]?.()) ?? 0;
const { user, system } = process.cpuUsage(before);
console.log(
  JSON.stringify({
    cpuSeconds: (user + system) / 1e6,
    peakMb: process.resourceUsage().maxRSS / 1_000,
    count,
  }),
);
