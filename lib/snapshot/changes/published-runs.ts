import { type Store, StoredObjectError } from '../../store/index.ts';
import { isManifestKey, type Place, PRUNED_NAME, wasLatestKey } from '../keys.ts';
import { type Latest, type Manifest, readLatest, readManifest } from '../manifest.ts';
import { runOfId } from '../run-id.ts';
import { readAhead } from '../sources/read-ahead.ts';
import { type Begun, newestFirst } from './newest-first.ts';

/** A published run: its name and the key of its manifest. */
export type PublishedRun = { readonly run: string; readonly manifest: string };

/** A published run, and the names in its folder that begin with `_`. */
export type PublishedKeys = PublishedRun & { readonly marks: ReadonlySet<string> };

type Listing = { readonly signal?: AbortSignal | undefined };

/** How many manifests are read at once. */
const READ_AHEAD = 16;

/**
 * The published runs of a place, the newest first and the others by their names, found by a listing alone: no manifest
 * is read, unless another run than the newest started after it. Throws `StoredObjectError` if `latest.json` is damaged.
 */
export async function publishedKeys(
  store: Store,
  place: Place,
  options: Listing = {},
): Promise<readonly PublishedKeys[]> {
  const latest = await readLatest(store, place);
  if (latest === undefined) return [];
  const runs = await listedRuns(store, place, { ...options, latest });
  // The name of a run has the second of its start.
  const startedBefore = ({ run }: PublishedRun) =>
    runOfId(run).startedAt.slice(0, 19) < latest.startedAt.slice(0, 19);
  if (runs.every((each) => each.run === latest.run || startedBefore(each)))
    return runs.toSorted((a, b) => (a.run < b.run ? 1 : -1));
  const byName = new Map(runs.map((each) => [each.run, each]));
  return (await publishedRuns(store, place, options)).flatMap(({ run }) => byName.get(run) ?? []);
}

/** The published runs of a place, without those that are being removed (`publishedRuns`). */
async function listedRuns(
  store: Store,
  place: Place,
  { latest, signal }: Listing & { readonly latest: Latest },
): Promise<readonly PublishedKeys[]> {
  const folders = new Map([[latest.run, { folder: '', marks: new Set<string>() }]]);
  for await (const { key } of store.list(`${place}/`, signal === undefined ? {} : { signal })) {
    const [, run, name = ''] = /^dt=[^/]+\/run=([^/]+)\/(_[^/]*)$/.exec(key.slice(place.length + 1)) ?? [];
    if (run === undefined) continue;
    const each = folders.get(run) ?? { folder: '', marks: new Set<string>() };
    folders.set(run, each);
    each.folder = key.slice(0, -name.length);
    each.marks.add(name);
  }
  return [...folders].flatMap(([run, { folder, marks }]) => {
    if (run === latest.run) return [{ run, manifest: latest.manifest, marks }];
    // In the order of the listing `_manifest-TOKEN.json` comes first: it replaced `_manifest.json`.
    const name = [...marks].find((each) => isManifestKey(each) && marks.has(wasLatestKey(each)));
    return name === undefined || marks.has(PRUNED_NAME) ? [] : [{ run, manifest: `${folder}${name}`, marks }];
  });
}

/**
 * The published runs of a place, newest first (`newestFirst`); none before the first publication. A run is published if
 * `latest.json` names its manifest, or has named it: whoever moves it on marks that first (`wasLatestKey`). Any other run in
 * the folder is either being published or was left by a publisher that lost or was killed, so it is left out; so is one
 * that `pruneRuns` has marked, since it is going. Throws `StoredObjectError` if `latest.json` is damaged.
 */
export async function publishedRuns(
  store: Store,
  place: Place,
  { signal }: Listing = {},
): Promise<readonly (PublishedRun & Begun)[]> {
  const latest = await readLatest(store, place);
  if (latest === undefined) return [];
  const runs = await listedRuns(store, place, { latest, signal });
  const read = (each: PublishedRun) => begunBy(store, each);
  const found = new Map<string, PublishedRun & Begun>();
  for await (const begun of readAhead({ items: runs, read, concurrency: READ_AHEAD, signal }))
    if (begun.run === latest.run) found.set(begun.run, { ...begun, startedAt: latest.startedAt });
    else if (!begun.isMissing) found.set(begun.run, begun);
  return newestFirst([...found.values()], latest.run).flatMap((run) => found.get(run) ?? []);
}

/** A damaged manifest must not hide its run, nor the others: whoever reads it names it. */
async function begunBy(store: Store, { run, manifest }: PublishedRun) {
  try {
    const { startedAt, ...read } = await readManifest(store, manifest);
    return { run, manifest, startedAt, after: runsBefore(read), isMissing: false };
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    const { startedAt } = runOfId(run);
    return { run, manifest, startedAt, after: [], isMissing: error.kind === 'missing' };
  }
}

/** The runs that a run came after: the one it replaced, and the one that was published when it began. */
export const runsBefore = ({
  changes,
  begunAfter,
}: Partial<Pick<Manifest, 'changes' | 'begunAfter'>>): readonly string[] =>
  [changes?.against, begunAfter].filter((run) => typeof run === 'string');
