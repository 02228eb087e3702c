import { publishedRuns } from '../../snapshot/changes/published-runs.ts';
import { placesIn } from '../../snapshot/history/places.ts';
import { allRuns } from '../../snapshot/history/unpublished-runs.ts';
import { type Place, sourceOf } from '../../snapshot/keys.ts';
import { type Latest, type Manifest, manifestOf, readLatest } from '../../snapshot/manifest.ts';
import { MOST_LISTED, type RunFacts, type SnapshotFacts } from '../facts.ts';
import { readChanges } from './changes.ts';
import { damageIn, type Reading, timeIn } from './values.ts';

/** How many runs of a place the history holds. */
const RUNS = 30;

/** Every place with a published run, in the order of the sources. What is damaged of one becomes a fault. */
export async function readSnapshots(options: Reading) {
  const { store, addFault, signal } = options;
  const found: { readonly manifest: Manifest; readonly facts: SnapshotFacts }[] = [];
  for (const place of await placesIn(store)) {
    signal.throwIfAborted();
    const snapshot = await orFault(() => readSnapshot(place, options), place, addFault);
    if (snapshot !== undefined) found.push(snapshot);
  }
  return found;
}

/** Undefined if something is missing or damaged, which becomes a fault. */
async function orFault<T>(
  read: () => Promise<T>,
  place: Place,
  addFault: Reading['addFault'],
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    addFault(`${place}: ${damageIn(error)}`);
    return undefined;
  }
}

async function readSnapshot(place: Place, options: Reading) {
  const { store, addFault } = options;
  const latest = await readLatest(store, place);
  if (latest === undefined) return undefined;
  const manifest = await manifestOf(store, latest.manifest, { place, run: latest.run });
  const { run, records, totals, consistency, forced, missing } = manifest;
  const { history, published } = await readHistory(place, manifest, options);
  const facts: SnapshotFacts = {
    place,
    source: sourceOf(place),
    ...timesOf(manifest),
    ...{ run, records, totals, consistency, forced },
    missing: missing.slice(0, MOST_LISTED),
    missingTotal: missing.length,
    refused: await orFault(() => refusedAfter(place, { latest, published }, options), place, addFault),
    history,
    changes: await readChanges({ ...options, place, manifest }),
  };
  return { manifest, facts };
}

/** The last published runs, oldest first, and where all are. */
async function readHistory(place: Place, last: Manifest, { store, addFault, signal }: Reading) {
  const published = (await orFault(() => publishedRuns(store, place, { signal }), place, addFault)) ?? [];
  const history: RunFacts[] = [];
  for (const { run, manifest: key } of published.slice(0, RUNS)) {
    signal.throwIfAborted();
    const manifest =
      run === last.run ? last : await orFault(() => manifestOf(store, key, { place, run }), place, addFault);
    if (manifest !== undefined) history.push(runFacts(manifest));
  }
  return { history: history.reverse(), published };
}

const timesOf = ({ startedAt, finishedAt }: Manifest) => ({
  startedAt: timeIn(startedAt) ?? 0,
  finishedAt: timeIn(finishedAt) ?? 0,
});

function runFacts(manifest: Manifest): RunFacts {
  const { run, records, changes, calls } = manifest;
  const { added, removed, changed } = changes ?? { added: 0, removed: 0, changed: 0 };
  return { run, ...timesOf(manifest), records, added, removed, changed, ...calls };
}

/** The newest run, if it was refused. */
async function refusedAfter(
  place: Place,
  found: { readonly latest: Latest; readonly published: Awaited<ReturnType<typeof publishedRuns>> },
  { store, signal }: Reading,
): Promise<SnapshotFacts['refused']> {
  const [newest] = await allRuns({ store, place, ...found, signal });
  if (newest === undefined || !('state' in newest) || newest.state !== 'refused') return undefined;
  return { run: newest.run, reasons: newest.manifest.refused };
}
