import type { Store } from '../../store/index.ts';
import { isManifestKey, type Place, PRUNED_NAME, wasLatestKey, wasPerhapsLatestKey } from '../keys.ts';
import { readLatest } from '../manifest.ts';

/** A published run: its name, the key of its manifest, and the names in its folder that begin with `_`. */
export type PublishedRun = {
  readonly run: string;
  readonly manifest: string;
  readonly marks: ReadonlySet<string>;
};

/**
 * The published runs of a place, found by a listing alone: first that of `latest.json`, then the others, newest first.
 * A run is published if `latest.json` names its manifest, or has named it (`wasLatestKey`): any other is being
 * published, or was left by a publisher. One that `pruneRuns` has marked is left out, unless `withMarked`. Throws
 * `StoredObjectError` if `latest.json` is damaged.
 */
export async function publishedRuns(
  store: Store,
  place: Place,
  {
    signal,
    withMarked = false,
  }: { readonly signal?: AbortSignal | undefined; readonly withMarked?: boolean } = {},
): Promise<readonly PublishedRun[]> {
  const latest = await readLatest(store, place);
  if (latest === undefined) return [];
  const folders = new Map([[latest.run, { folder: '', marks: new Set<string>() }]]);
  for await (const { key } of store.list(`${place}/`, { signal })) {
    const [, run, name = ''] = /^dt=[^/]+\/run=([^/]+)\/(_[^/]*)$/.exec(key.slice(place.length + 1)) ?? [];
    if (run === undefined) continue;
    const each = folders.get(run) ?? { folder: key.slice(0, -name.length), marks: new Set<string>() };
    folders.set(run, each);
    each.marks.add(name);
  }
  const runs = [...folders].flatMap(([run, { folder, marks }]) => {
    if (run === latest.run) return [{ run, manifest: latest.manifest, marks }];
    // In the order of the listing `_manifest-TOKEN.json` comes first: it replaced `_manifest.json`.
    const marked = (mark: (name: string) => string) =>
      [...marks].find((each) => isManifestKey(each) && marks.has(mark(each)));
    const name = marked(wasLatestKey) ?? marked(wasPerhapsLatestKey);
    const isLeftOut = name === undefined || (marks.has(PRUNED_NAME) && !withMarked);
    return isLeftOut ? [] : [{ run, manifest: `${folder}${name}`, marks }];
  });
  const rank = ({ run }: PublishedRun) => (run === latest.run ? 1 : 0);
  return runs.sort((a, b) => rank(b) - rank(a) || (a.run < b.run ? 1 : -1));
}
