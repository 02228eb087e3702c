import type { Store } from '../../store/index.ts';
import { isManifestKey, type Place, runOfKey, TAGGED_NAME } from '../keys.ts';
import { readLatest } from '../manifest.ts';

/** A published run: its name, the key of its manifest, and whether all of it has the tag of replaced runs. */
export type PublishedRun = {
  readonly run: string;
  readonly manifest: string;
  readonly isTagged: boolean;
  /** Another run was published after it, even if it is the last one again. */
  readonly wasReplaced: boolean;
};

/**
 * The published runs of a place: first that of `latest.json`, then those that it named before and whose manifests are
 * still there, newest first. Throws `StoredObjectError` if `latest.json` is damaged.
 */
export async function publishedRuns(
  store: Store,
  place: Place,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly PublishedRun[]> {
  const latest = await readLatest(store, place);
  if (latest === undefined) return [];
  const earlier = new Map(latest.earlier.map((key) => [runOfKey(key) ?? '', key]));
  const there = new Set<string>();
  const tagged = new Set<string | undefined>();
  for await (const { key } of store.list(`${place}/dt=`, { signal })) {
    if (isManifestKey(key)) there.add(key);
    if (key.endsWith(`/${TAGGED_NAME}`)) tagged.add(runOfKey(key));
  }
  const found = (run: string, manifest: string): PublishedRun => ({
    run,
    manifest,
    isTagged: tagged.has(run),
    wasReplaced: earlier.has(run),
  });
  const replaced = [...earlier].filter(([run, key]) => run !== latest.run && there.has(key));
  replaced.sort(([a], [b]) => (a < b ? 1 : -1));
  return [found(latest.run, latest.manifest), ...replaced.map(([run, key]) => found(run, key))];
}
