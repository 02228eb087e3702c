import { type Store, StoredObjectError } from '../../store/index.ts';
import { publishedKeys } from '../changes/published-runs.ts';
import { isManifestKey, type Place } from '../keys.ts';
import { type Manifest, manifestOf } from '../manifest.ts';
import { readLastPublication } from '../publish/last-publication.ts';
import { refreshLatest } from '../publish/manifest-key.ts';
import { seriesToPublish, withdrawParts } from '../publish/withdraw-parts.ts';
import { runOfId } from '../run-id.ts';

type PlaceToClear = { readonly store: Store; readonly place: Place; readonly signal: AbortSignal };

/**
 * Deletes what publishers that lost, or were killed, have left: manifests that were never published, or were replaced, and
 * parts and changes that no manifest names. Before a manifest goes, `latest.json` is stored again: its publisher has read
 * that before, and cannot move it any more; if it was faster, its manifest counts as published from then on. If what
 * `latest.json` names is damaged, all stays.
 */
export async function withdrawLeft({ store, place, signal }: PlaceToClear): Promise<void> {
  const { latest, broken } = await readLastPublication(store, place);
  if (latest === undefined || broken !== undefined) return;
  const manifests = new Map<string, readonly string[]>();
  for (const prefix of [`${place}/`, `changes/${place}/`])
    for await (const { key } of store.list(prefix, { signal })) {
      const [, run] = /^dt=[^/]+\/run=([^/]+)\//.exec(key.slice(prefix.length)) ?? [];
      if (run === undefined) continue;
      const known = manifests.get(run) ?? [];
      manifests.set(run, isManifestKey(key) ? [...known, key] : known);
    }
  const listPublished = async () =>
    new Map((await publishedKeys(store, place, { signal })).map(({ run, manifest }) => [run, manifest]));
  let published = await listPublished();
  const others = () =>
    [...manifests].flatMap(([run, keys]) => keys.filter((key) => key !== published.get(run)));
  if (others().length > 0) {
    await refreshLatest({ store, place, signal });
    published = await listPublished();
    for (const key of others()) await store.delete(key);
  }
  for (const id of manifests.keys()) {
    signal.throwIfAborted();
    const run = runOfId(id);
    const series = await seriesToPublish(store, place, run);
    const standing = await standingOf(store, place, id, published.get(id));
    if (standing !== 'damaged')
      await withdrawParts({ store, place, run, series, published: standing, warn: fail });
  }
}

type Standing = { readonly key: string; readonly manifest: Manifest } | undefined | 'damaged';

async function standingOf(
  store: Store,
  place: Place,
  run: string,
  key: string | undefined,
): Promise<Standing> {
  try {
    return key === undefined ? undefined : { key, manifest: await manifestOf(store, key, { place, run }) };
  } catch (error) {
    if (error instanceof StoredObjectError) return 'damaged';
    throw error;
  }
}

function fail(_what: string, error: Error): void {
  throw error;
}
