import { printStored, type Store } from '../../store/index.ts';
import {
  foldersOf,
  isManifestKey,
  latestParquetFolder,
  MANIFEST_NAME,
  type Place,
  PRUNED_NAME,
  workFolder,
} from '../keys.ts';
import { refreshLatest } from '../publish/manifest-key.ts';
import { CHECKPOINT_NAME } from '../run/checkpoint.ts';
import type { Run } from '../run-id.ts';
import type { RunToPrune } from './plan-prune.ts';
import { withdrawLeft } from './withdraw-left.ts';

export type PruneOptions = {
  readonly store: Store;
  readonly place: Place;
  readonly runs: readonly RunToPrune[];
  /** Removes a run from the tables in the account. Default: there are none. */
  readonly removePartition: ((place: Place, run: Run) => Promise<void>) | undefined;
  readonly signal: AbortSignal;
  /** A run is gone. */
  readonly onRemoved: (run: RunToPrune) => void;
};

/** Why a run was not removed, in words. */
export type StillNeeded = { readonly run: string; readonly reason: string };

/**
 * Removes runs of a place, and returns those that turned out to be needed. What leads to a run goes before its records:
 *
 * 1. It is marked. Whoever publishes it again stores its manifest first, and does not move `latest.json` if the mark is
 *    there after that.
 * 2. `latest.json` is stored again with other white space: a publisher that looked before the mark was there moves it
 *    only if it is as it was read. Whoever moved it before that is seen now, and their run stays.
 * 3. The partition, then the manifests, so that nobody finds the run; then its parts, Parquet, changes and its folder
 *    under `work/`; the mark goes last.
 *
 * Each step may be repeated. A prune that was stopped is continued by the next one, which finds the mark. At the end, what
 * publishers that lost or were killed have left of runs that stay goes (`withdrawLeft`).
 */
export async function pruneRuns(options: PruneOptions): Promise<readonly StillNeeded[]> {
  const { store, place, runs, onRemoved, signal } = options;
  const published = runs.filter(({ folder }) => folder !== undefined);
  for (const { folder, run } of published)
    await store.put(`${folder}${PRUNED_NAME}`, printStored({ place, run }));
  const needed = published.length === 0 ? [] : await stillNeeded(options, published);
  for (const run of runs) {
    signal.throwIfAborted();
    if (needed.some((each) => each.run === run.run)) {
      await store.delete(`${run.folder}${PRUNED_NAME}`);
      continue;
    }
    if (run.folder !== undefined) await removePublished(options, run, run.folder);
    await removeAll(store, workFolder(place, { id: run.run }), [CHECKPOINT_NAME, MANIFEST_NAME]);
    if (run.folder !== undefined) await store.delete(`${run.folder}${PRUNED_NAME}`);
    onRemoved(run);
  }
  await withdrawLeft({ store, place, signal });
  return needed;
}

async function stillNeeded(
  { store, place, signal }: PruneOptions,
  runs: readonly RunToPrune[],
): Promise<readonly StillNeeded[]> {
  const latest = await refreshLatest({ store, place, signal });
  const symlinks = (await store.get(`${latestParquetFolder(place)}symlink.txt`))?.body.toString() ?? '';
  return runs.flatMap(({ run }) => {
    if (run === latest?.run) return [{ run, reason: 'it has been published again' }];
    return symlinks.includes(`/run=${run}/`)
      ? [{ run, reason: 'the table of the latest run is over it' }]
      : [];
  });
}

/** Removes a run outside `work/`, but for its mark. */
async function removePublished(
  { store, place, removePartition }: PruneOptions,
  { run: id, startedAt }: RunToPrune,
  folder: string,
): Promise<void> {
  await removePartition?.(place, { id, startedAt });
  const [own, ...others] = foldersOf(folder);
  const keys: string[] = [];
  for await (const { key } of store.list(own)) if (!key.endsWith(`/${PRUNED_NAME}`)) keys.push(key);
  for (const key of keys.toSorted((a, b) => Number(isManifestKey(b)) - Number(isManifestKey(a))))
    await store.delete(key);
  for (const prefix of others) await removeAll(store, prefix, []);
}

async function removeAll(store: Store, prefix: string, first: readonly string[]): Promise<void> {
  for (const name of first) await store.delete(`${prefix}${name}`);
  for await (const { key } of store.list(prefix)) await store.delete(key);
}
