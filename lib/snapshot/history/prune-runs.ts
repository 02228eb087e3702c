import { printStored, type Store } from '../../store/index.ts';
import { foldersOf, isManifestKey, latestParquetFolder, type Place, PRUNED_NAME, sourceOf } from '../keys.ts';
import { refreshLatest } from '../publish/manifest-key.ts';
import type { Run } from '../run-id.ts';
import { deleteWork } from './clear-work.ts';
import type { PrunePlan, RunToPrune } from './plan-prune.ts';
import { withdrawLeft } from './withdraw-left.ts';

export type PruneOptions = Pick<PrunePlan, 'place' | 'runs' | 'left'> & {
  readonly store: Store;
  /** Removes a run from the tables in the account. Default: there are none. */
  readonly removePartition: ((place: Place, run: Run) => Promise<void>) | undefined;
  readonly signal: AbortSignal;
  readonly onRemoved: (run: RunToPrune) => void;
};

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
 * Each step may be repeated: the next prune finds the mark. What publishers that lost or were killed have left of runs
 * that stay goes too: of unpublished ones all outside `work/` (`left`), and of the others what `withdrawLeft` finds.
 */
export async function pruneRuns(options: PruneOptions): Promise<readonly StillNeeded[]> {
  const { store, place, runs, left, onRemoved, signal } = options;
  const published = [...runs.filter(({ folder }) => folder !== undefined), ...left];
  for (const { folder, run } of published)
    await store.put(`${folder}${PRUNED_NAME}`, printStored({ place, run }));
  const needed = published.length === 0 ? [] : await stillNeeded(options, published);
  const isNeeded = (run: string) => needed.some((each) => each.run === run);
  for (const run of runs) {
    signal.throwIfAborted();
    const { run: id, folder } = run;
    if (folder !== undefined && !isNeeded(id)) await removePublished(options, run, folder);
    if (!isNeeded(id)) await deleteWork(store, place, id);
    if (folder !== undefined) await store.delete(`${folder}${PRUNED_NAME}`);
    if (!isNeeded(id)) onRemoved(run);
  }
  for (const run of left) {
    signal.throwIfAborted();
    if (!isNeeded(run.run)) await removePublished(options, run, run.folder);
    await store.delete(`${run.folder}${PRUNED_NAME}`);
  }
  await withdrawLeft({ store, place, signal });
  return needed;
}

async function stillNeeded(
  { store, place, signal }: PruneOptions,
  runs: readonly Pick<RunToPrune, 'run'>[],
): Promise<readonly StillNeeded[]> {
  const latest = await refreshLatest({ store, place, signal });
  const symlinks =
    (await store.get(`${latestParquetFolder(sourceOf(place))}symlink.txt`))?.body.toString() ?? '';
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
  { run: id, startedAt }: Pick<RunToPrune, 'run' | 'startedAt'>,
  folder: string,
): Promise<void> {
  await removePartition?.(place, { id, startedAt });
  const [own, ...others] = foldersOf(folder);
  const keys: string[] = [];
  for await (const { key } of store.list(own)) if (!key.endsWith(`/${PRUNED_NAME}`)) keys.push(key);
  for (const key of keys.toSorted((a, b) => Number(isManifestKey(b)) - Number(isManifestKey(a))))
    await store.delete(key);
  for (const prefix of others) for await (const { key } of store.list(prefix)) await store.delete(key);
}
