import { type Store, StoredObjectError } from '../../store/index.ts';
import { publishedRuns } from '../changes/published-runs.ts';
import { isManifestKey, type Place } from '../keys.ts';
import { manifestOf } from '../manifest.ts';
import { readLastPublication } from '../publish/last-publication.ts';
import { refreshLatest, withdrawManifest } from '../publish/manifest-key.ts';

type PlaceToClear = { readonly store: Store; readonly place: Place; readonly signal: AbortSignal };

/**
 * Deletes what publishers that lost, or were killed, have left: manifests never published, or replaced, and changes
 * that none names. `latest.json` is stored again before, so that none can move it. All stays if what it names is
 * damaged.
 */
export async function withdrawLeft({ store, place, signal }: PlaceToClear): Promise<void> {
  const { latest, broken } = await readLastPublication(store, place);
  if (latest === undefined || broken !== undefined) return;
  const keys: string[] = [];
  for await (const { key } of store.list(`${place}/`, { signal })) if (isManifestKey(key)) keys.push(key);
  for await (const { key } of store.list(`changes/${place}/`, { signal })) keys.push(key);
  const unnamed = async () => {
    const isNamed = await namedBy({ store, place, signal });
    return keys.filter((key) => !isNamed(key));
  };
  if ((await unnamed()).length === 0) return;
  await refreshLatest({ store, place, signal });
  for (const key of await unnamed())
    await (isManifestKey(key) ? withdrawManifest(store, key) : store.delete(key));
}

/** Makes a function that is true for the manifests of published runs, and for what they name; for all changes of a damaged one. */
async function namedBy({ store, place, signal }: PlaceToClear): Promise<(key: string) => boolean> {
  const named = new Set<string>();
  const damaged: string[] = [];
  // What another prune has marked is for that one to remove, or to find needed.
  for (const { run, manifest } of await publishedRuns(store, place, { signal, withMarked: true })) {
    named.add(manifest);
    try {
      const { changes } = await manifestOf(store, manifest, { place, run });
      if (changes !== null) named.add(changes.key);
    } catch (error) {
      if (!(error instanceof StoredObjectError)) throw error;
      damaged.push(`/run=${run}/`);
    }
  }
  return (key) => named.has(key) || (!isManifestKey(key) && damaged.some((folder) => key.includes(folder)));
}
