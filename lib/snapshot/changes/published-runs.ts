import type { Store } from '../../store/store.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { isManifestKey, type Place, PRUNED_NAME } from '../keys.ts';
import { type Manifest, readLatest, readManifest } from '../manifest.ts';
import { runOfId } from '../run-id.ts';
import { readAhead } from '../sources/read-ahead.ts';
import { type Begun, newestFirst } from './newest-first.ts';

/** A published run: its name and the key of its manifest. */
export type PublishedRun = { readonly run: string; readonly manifest: string };

/** How many manifests are read at once. */
const READ_AHEAD = 16;

/**
 * The published runs of a place, newest first (`newestFirst`); none before the first publication. A run is published once
 * `latest.json` has been moved to it or past it. Any other run in the folder is either being published or was left by a
 * publisher that was killed, so it is left out; so is one that `pruneRuns` has marked, since it is going. Throws
 * `StoredObjectError` if `latest.json` is damaged.
 */
export async function publishedRuns(
  store: Store,
  place: Place,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<readonly (PublishedRun & Begun)[]> {
  const latest = await readLatest(store, place);
  if (latest === undefined) return [];
  // The manifest that is named wins; of others that a run may have, the first: the one that replaced a killed publisher's.
  const keys = new Map([[latest.run, latest.manifest]]);
  const going = new Set<string>();
  for await (const { key } of store.list(`${place}/`, signal === undefined ? {} : { signal })) {
    const [, run, name = ''] = /^dt=[^/]+\/run=([^/]+)\/([^/]+)$/.exec(key.slice(place.length + 1)) ?? [];
    if (run === undefined || run === latest.run) continue;
    if (name === PRUNED_NAME) going.add(run);
    else if (isManifestKey(name) && !keys.has(run)) keys.set(run, key);
  }
  for (const run of going) keys.delete(run);
  const read = ([run, manifest]: readonly [string, string]) => begunBy(store, { run, manifest });
  const found = new Map<string, PublishedRun & Begun>();
  for await (const begun of readAhead({ items: [...keys], read, concurrency: READ_AHEAD, signal }))
    if (begun.run === latest.run) found.set(begun.run, { ...begun, startedAt: latest.startedAt });
    else if (!begun.isMissing) found.set(begun.run, begun);
  return newestFirst([...found.values()], latest.run).published.flatMap((run) => found.get(run) ?? []);
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
