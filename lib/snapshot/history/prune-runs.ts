import { parseStored, printStoredLine, type Store, updateObject } from '../../store/index.ts';
import {
  foldersOf,
  isManifestKey,
  latestKey,
  latestParquetFolder,
  type Place,
  runOfKey,
  sourceOf,
} from '../keys.ts';
import { latestSchema } from '../manifest.ts';
import type { Run } from '../run-id.ts';
import { deleteWork } from './clear-work.ts';
import type { PrunePlan, RunToPrune } from './plan-prune.ts';

export type PruneOptions = Pick<PrunePlan, 'place' | 'runs'> & {
  readonly store: Store;
  /** Removes a run from the tables in the account. Default: there are none. */
  readonly removePartition: ((place: Place, run: Run) => Promise<void>) | undefined;
  readonly signal: AbortSignal;
  readonly onRemoved: (run: RunToPrune) => void;
};

export type StillNeeded = { readonly run: string; readonly reason: string };

/**
 * Removes runs of a place one after another, and returns those that turned out to be needed. A run is first taken from
 * those that `latest.json` lists, for good (`removed`): a publisher that read it before cannot move it any more, and one
 * that reads it afterwards publishes no removed run. So each step may be repeated, late and by several prunes at once.
 * What leads to a run goes before its records: its partition, its manifests, then its parts, Parquet and changes, and
 * its folder under `work/`.
 */
export async function pruneRuns(options: PruneOptions): Promise<readonly StillNeeded[]> {
  const { store, place, runs, onRemoved, signal } = options;
  const needed: StillNeeded[] = [];
  // What is only under `work/` needs no note: on a full disk it makes room for that of the others.
  for (const run of runs.toSorted(
    (a, b) => Number(a.folder !== undefined) - Number(b.folder !== undefined),
  )) {
    signal.throwIfAborted();
    const reason = run.folder === undefined ? undefined : await takeFromLatest(run, options);
    if (reason !== undefined) {
      needed.push({ run: run.run, reason });
      continue;
    }
    if (run.folder !== undefined) await removePublished(run.folder, run, options);
    await deleteWork(store, place, run.run);
    onRemoved(run);
  }
  return needed;
}

/** Lists a run as removed in `latest.json`. Returns why it stays, if it does. */
async function takeFromLatest(
  { run, state }: RunToPrune,
  { store, place, signal }: PruneOptions,
): Promise<string | undefined> {
  const table = await store.get(`${latestParquetFolder(sourceOf(place))}symlink.txt`);
  if (table?.body.includes(`/run=${run}/`)) return 'the table of the latest run is over it';
  const key = latestKey(place);
  let reason: string | undefined;
  await updateObject(
    store,
    key,
    (found) => {
      if (found === undefined) reason = `${key} is gone`;
      if (found === undefined) return undefined;
      const latest = parseStored(key, found.body, latestSchema);
      const earlier = latest.earlier.filter((each) => runOfKey(each) !== run);
      const isPublished =
        latest.run === run || (state !== 'published' && earlier.length < latest.earlier.length);
      reason = isPublished ? 'it has been published again' : undefined;
      if (isPublished || latest.removed.includes(run)) return undefined;
      return printStoredLine({ ...latest, earlier, removed: [...latest.removed, run] });
    },
    // It makes room.
    { signal, mayUseReserve: true },
  );
  return reason;
}

async function removePublished(
  folder: string,
  { run: id, startedAt }: RunToPrune,
  { store, place, removePartition }: PruneOptions,
): Promise<void> {
  await removePartition?.(place, { id, startedAt });
  const keys: string[] = [];
  for (const prefix of foldersOf(folder)) for await (const { key } of store.list(prefix)) keys.push(key);
  for (const key of keys.toSorted((a, b) => Number(isManifestKey(b)) - Number(isManifestKey(a))))
    await store.delete(key);
}
