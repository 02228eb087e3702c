import type { Store } from '../../store/store.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { publishedRuns } from '../changes/published-runs.ts';
import { isManifestKey, type Place } from '../keys.ts';
import { type Manifest, manifestOf } from '../manifest.ts';
import { readLastPublication } from '../publish/last-publication.ts';
import { refreshLatest } from '../publish/manifest-key.ts';
import { seriesToPublish, withdrawParts } from '../publish/withdraw-parts.ts';
import { runOfId } from '../run-id.ts';

type PlaceToClear = { readonly store: Store; readonly place: Place; readonly signal: AbortSignal };

/**
 * Deletes what publishers that lost, or were killed, left of runs that stay: second manifests of published runs, and
 * parts and changes that no manifest names. `latest.json` is stored again before a manifest goes: a publisher that stored
 * one read it before that, and cannot move it any more. If it was moved meanwhile, or what it names is damaged, all stays.
 * So does a run with a manifest that is not listed as published: it may have been, before others were forced back past it.
 */
export async function withdrawLeft({ store, place, signal }: PlaceToClear): Promise<void> {
  const { latest, broken } = await readLastPublication(store, place);
  if (latest === undefined || broken !== undefined) return;
  const runs = await publishedRuns(store, place, { signal });
  const published = new Map(runs.map(({ run, manifest }) => [run, manifest]));
  const found = new Set<string>();
  const others: string[] = [];
  for (const prefix of [`${place}/`, `changes/${place}/`])
    for await (const { key } of store.list(prefix, { signal })) {
      const [, run] = /^dt=[^/]+\/run=([^/]+)\//.exec(key.slice(prefix.length)) ?? [];
      if (run === undefined) continue;
      found.add(run);
      if (isManifestKey(key) && (published.get(run) ?? key) !== key) others.push(key);
    }
  if (others.length > 0 && (await refreshLatest({ store, place, signal }))?.manifest !== latest.manifest)
    return;
  for (const key of others) await store.delete(key);
  for (const id of found) {
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
