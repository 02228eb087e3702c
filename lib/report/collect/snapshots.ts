import { type PublishedRun, publishedRuns } from '../../snapshot/changes/published-runs.ts';
import { placesIn } from '../../snapshot/history/places.ts';
import { allRuns } from '../../snapshot/history/unpublished-runs.ts';
import { type Place, sourceOf } from '../../snapshot/keys.ts';
import { type Manifest, manifestOf, readLatest } from '../../snapshot/manifest.ts';
import { refusalWords } from '../../snapshot/publish/refusal-words.ts';
import { unlessDamaged } from '../../store/index.ts';
import { MAX_LISTED, type RunFacts, type SnapshotFacts } from '../facts.ts';
import { readChanges } from './changes.ts';
import type { Reading } from './values.ts';

/** How many runs of a place the history holds. */
const RUNS = 30;

/** Every place with a published run, in the order of the sources. What is damaged of one becomes a fault. */
export async function readSnapshots(options: Reading) {
  const found: NonNullable<Awaited<ReturnType<typeof readSnapshot>>>[] = [];
  for (const place of await placesIn(options.store)) {
    options.signal.throwIfAborted();
    const orFault = unlessDamaged((fault) => options.addFault(`${place}: ${fault}`));
    const snapshot = await readSnapshot(place, { ...options, orFault }).catch(orFault);
    if (snapshot !== undefined) found.push(snapshot);
  }
  return found;
}

type ReadingPlace = Reading & { readonly orFault: (error: unknown) => undefined };

async function readSnapshot(place: Place, options: ReadingPlace) {
  const { store, signal, orFault } = options;
  const latest = await readLatest(store, place);
  if (latest === undefined) return undefined;
  const manifest = await manifestOf(store, latest.manifest, { place, run: latest.run });
  const published = (await publishedRuns(store, place, { signal }).catch(orFault)) ?? [];
  const newest = await allRuns({ store, place, latest, published, signal }).catch(orFault);
  const manifests = await readManifests(place, published, options);
  const { run, records, totals, consistency, forced, missing } = manifest;
  const facts: SnapshotFacts = {
    place,
    source: sourceOf(place),
    ...timesOf(manifest),
    ...{ run, records, totals, consistency, forced },
    missing: missing.slice(0, MAX_LISTED),
    missingTotal: missing.length,
    refused: refusedIn(newest?.[0]),
    history: manifests.map(runFacts).reverse(),
    changes: await readChanges({ ...options, place, manifest }),
  };
  return { manifest, manifests, facts };
}

/** Of the last published runs, newest first. */
async function readManifests(
  place: Place,
  published: readonly PublishedRun[],
  { store, signal, orFault }: ReadingPlace,
): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for (const { run, manifest: key } of published.slice(0, RUNS)) {
    signal.throwIfAborted();
    const manifest = await manifestOf(store, key, { place, run }).catch(orFault);
    if (manifest !== undefined) manifests.push(manifest);
  }
  return manifests;
}

const timesOf = ({ startedAt, finishedAt }: Manifest) => ({
  startedAt: Date.parse(startedAt) || 0,
  finishedAt: Date.parse(finishedAt) || 0,
});

function runFacts(manifest: Manifest): RunFacts {
  const { run, records, changes, calls } = manifest;
  const { added, removed, changed } = changes ?? { added: 0, removed: 0, changed: 0 };
  return { run, ...timesOf(manifest), records, added, removed, changed, ...calls };
}

/** The newest run, if it was refused. */
const refusedIn = (newest: Awaited<ReturnType<typeof allRuns>>[number] | undefined) =>
  newest !== undefined && 'state' in newest && newest.state === 'refused'
    ? { run: newest.run, reasons: refusalWords(newest.manifest) }
    : undefined;
