import type { Store } from '../../store/index.ts';
import { foldersOf, isManifestKey, latestParquetFolder, type Place, PRUNED_NAME, sourceOf } from '../keys.ts';
import { refreshLatest } from '../publish/manifest-key.ts';
import type { Run } from '../run-id.ts';
import { deleteWork } from './clear-work.ts';
import type { PrunePlan, RunToPrune } from './plan-prune.ts';
import { createPruneMarks, type PruneMarks, type RunToMark } from './prune-marks.ts';
import { withdrawLeft } from './withdraw-left.ts';

export type PruneOptions = Pick<PrunePlan, 'place' | 'runs' | 'left'> & {
  readonly store: Store;
  /** Removes a run from the tables in the account. Default: there are none. */
  readonly removePartition: ((place: Place, run: Run) => Promise<void>) | undefined;
  readonly signal: AbortSignal;
  /** Epoch milliseconds. Default: this machine's clock. */
  readonly now?: (() => number) | undefined;
  readonly onRemoved: (run: RunToPrune) => void;
};

export type StillNeeded = { readonly run: string; readonly reason: string };

/**
 * Removes runs of a place, and returns those that turned out to be needed. What leads to a run goes before its records:
 *
 * 1. It is marked, unless another prune has it. Whoever publishes it again stores its manifest first, and does not move
 *    `latest.json` if the mark is there after that.
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
  const needed: StillNeeded[] = [];
  // What is only under `work/` needs no mark: on a full disk it makes room for those of the others.
  for (const run of runs)
    if (run.folder === undefined) {
      signal.throwIfAborted();
      await deleteWork(store, place, run.run);
      onRemoved(run);
    }
  const marked = [...runs, ...left].flatMap(({ folder, ...run }) => (folder ? [{ ...run, folder }] : []));
  for (let from = 0; from < marked.length; from += MAX_MARKS)
    needed.push(...(await removeMarked(options, marked.slice(from, from + MAX_MARKS))));
  await withdrawLeft({ store, place, signal });
  return needed;
}

/** The reserve of a full disk has room for so many marks at once. */
const MAX_MARKS = 6;

async function removeMarked(
  options: PruneOptions,
  batch: readonly PrunePlan['left'][number][],
): Promise<readonly StillNeeded[]> {
  const { store, place, runs, onRemoved, signal, now = Date.now } = options;
  const marks = createPruneMarks({ store, place, now });
  const taken = new Map<string, RunToMark>();
  const needed: StillNeeded[] = [];
  try {
    for (const { run, folder } of batch)
      if (await marks.take({ run, folder })) taken.set(run, { run, folder });
      else needed.push({ run, reason: TAKEN });
    if (taken.size > 0) needed.push(...(await stillNeeded(options, [...taken.values()])));
    for (const run of batch) {
      signal.throwIfAborted();
      const marked = taken.get(run.run);
      taken.delete(run.run);
      const isNeeded = needed.some((each) => each.run === run.run);
      const whole = isNeeded ? undefined : runs.find((each) => each.run === run.run);
      if (!isNeeded && marked !== undefined && !(await removePublished(options, run, { marked, marks }))) {
        needed.push({ run: run.run, reason: TAKEN });
        continue;
      }
      if (whole !== undefined) await deleteWork(store, place, whole.run);
      if (marked !== undefined) await marks.drop(marked);
      if (whole !== undefined) onRemoved(whole);
    }
  } finally {
    // Whatever ends it, Ctrl-C or the store: what has not begun to go is as it was.
    for (const each of taken.values()) await marks.drop(each).catch(() => undefined);
  }
  return needed;
}

const TAKEN = 'another prune is removing it, or was a few minutes ago';

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

type Marked = { readonly marked: RunToMark; readonly marks: PruneMarks };

/** Removes a run outside `work/`, but for its mark. False if another prune has taken it. */
async function removePublished(
  { store, place, removePartition }: PruneOptions,
  { run: id, startedAt }: Pick<RunToPrune, 'run' | 'startedAt'>,
  { marked, marks }: Marked,
): Promise<boolean> {
  if (!(await marks.isOwn(marked))) return false;
  await removePartition?.(place, { id, startedAt });
  const keys: string[] = [];
  for (const prefix of foldersOf(marked.folder))
    for await (const { key } of store.list(prefix)) if (!key.endsWith(`/${PRUNED_NAME}`)) keys.push(key);
  for (const key of keys.toSorted((a, b) => Number(isManifestKey(b)) - Number(isManifestKey(a)))) {
    if (!(await marks.isOwn(marked))) return false;
    await store.delete(key);
  }
  return true;
}
