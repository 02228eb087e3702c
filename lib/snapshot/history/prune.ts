import {
  parseStored,
  printStoredLine,
  type Store,
  StoredObjectError,
  StoreError,
  updateObject,
} from '../../store/index.ts';
import {
  foldersOf,
  isManifestKey,
  latestKey,
  latestParquetFolder,
  type Place,
  type Run,
  runOfId,
  runOfKey,
  sourceOf,
  workFolder,
} from '../keys.ts';
import { latestSchema, type PublishedRun, placesIn, publishedRuns } from '../manifest.ts';
import { readLastPublication } from '../publish/publish-parts.ts';
import { findRuns, type ListedRun, unpublishedRuns } from './runs.ts';

/**
 * Which runs of a place to keep: the newest `keep` published runs, or the runs that started at `beforeMs` (epoch
 * milliseconds) or later.
 */
type PruneRule =
  | { readonly kind: 'keep'; readonly keep: number }
  | { readonly kind: 'older'; readonly beforeMs: number };

/**
 * A run to delete. `half-pruned`: an earlier prune was stopped. `left`: objects that a killed publisher left behind.
 */
type RunToPrune = {
  readonly place: Place;
  readonly run: string;
  readonly startedAt: string;
  readonly state: ListedRun['state'] | 'half-pruned' | 'left';
  /** The folder where the run is or would be published; undefined for a run that has only its folder under `work/`. */
  readonly folder: string | undefined;
  readonly objects: number;
  readonly bytes: number;
};

type PrunePlan = {
  readonly place: Place;
  readonly runs: readonly RunToPrune[];
  /** What is missing or damaged in the last published run, in words. If set, nothing is deleted. */
  readonly broken: string | undefined;
};

type PlanOptions = {
  readonly store: Store;
  readonly place: Place;
  readonly rule: PruneRule;
  readonly nowMs: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * An unfinished run is deleted only if it started at least this many milliseconds ago, since it may still be in
 * progress.
 */
const UNFINISHED_MS = 7 * 86_400_000;

/**
 * Plans which runs of each place to delete; deletes nothing. If this machine's clock is ahead, runs do not count as
 * older.
 */
export async function planPrunes(
  options: Omit<PlanOptions, 'place' | 'rule' | 'nowMs'> & {
    /** Default: all places. */
    readonly place: Place | undefined;
    /**
     * `beforeMs`: returns the cutoff in epoch milliseconds, given the start of the newest run. This machine's clock is
     * not used, since it may be wrong.
     */
    readonly rule:
      | { readonly kind: 'keep'; readonly keep: number }
      | { readonly kind: 'older'; readonly beforeMs: (newestMs: number) => number };
    readonly signal: AbortSignal;
  },
): Promise<readonly PrunePlan[]> {
  const { store, place, rule: ruleOfStart, signal } = options;
  const { listed } = await findRuns({ store, place: undefined, all: true, limit: 1, signal });
  const newestMs = Math.max(...listed.map(({ startedAt }) => Date.parse(startedAt)));
  const nowMs = Math.min(newestMs, Date.now());
  const rule =
    ruleOfStart.kind === 'keep' ? ruleOfStart : { ...ruleOfStart, beforeMs: ruleOfStart.beforeMs(newestMs) };
  const plans: PrunePlan[] = [];
  for (const each of place === undefined ? await placesIn(store) : [place])
    plans.push(await planPrune({ store, place: each, rule, nowMs, signal }));
  return plans;
}

/** Plans which runs of a place to delete; deletes nothing. */
export async function planPrune(options: PlanOptions): Promise<PrunePlan> {
  const { store, place, signal } = options;
  const { latest, broken } = await readLastPublication(store, place);
  // If the last run is damaged, an earlier published run may be all that is left.
  if (broken !== undefined) return { place, runs: [], broken };
  const published = await publishedRuns(store, place, { signal });
  // Without latest.json, any manifest may have been published.
  const folders = latest === undefined ? new Map<string, string>() : await foldersIn(store, place);
  const removed = new Set(latest?.removed);
  const found = published
    .slice(1)
    .filter(({ run }, at) => isPast(options.rule, run, at + 1))
    .map(
      ({ run }): Pick<RunToPrune, 'run' | 'state' | 'startedAt'> => ({
        run,
        state: 'published',
        ...startOf(run),
      }),
    );
  const known = new Set(published.map(({ run }) => run));
  const add = (each: Pick<RunToPrune, 'run' | 'state' | 'startedAt'>) => {
    if (removed.has(each.run)) found.push({ ...each, state: 'half-pruned' });
    else if (mayDelete(each, options, published)) found.push(each);
  };
  for await (const each of unpublishedRuns({ store, place, published, latest, signal })) {
    known.add(each.run);
    add(each);
  }
  for (const run of folders.keys()) if (!known.has(run)) add({ run, state: 'left', ...startOf(run) });
  const runs: RunToPrune[] = [];
  for (const { run, state, startedAt } of found) {
    const each = { place, run, state, startedAt, folder: folders.get(run) };
    runs.push({ ...each, ...(await sizeOf(store, each)) });
  }
  return { place, runs, broken: undefined };
}

const startOf = (run: string) => ({ startedAt: runOfId(run).startedAt });

/** Whether the rule deletes a published run. `at`: the number of published runs that are newer. */
const isPast = (rule: PruneRule, run: string, at: number): boolean =>
  rule.kind === 'keep' ? at >= rule.keep : Date.parse(runOfId(run).startedAt) < rule.beforeMs;

const mayBeInProgress = (
  { state, startedAt }: Pick<RunToPrune, 'state' | 'startedAt'>,
  { nowMs }: PlanOptions,
) => state === 'unfinished' && Date.parse(startedAt) > nowMs - UNFINISHED_MS;

/**
 * Whether the rule deletes an unpublished run: it started before `beforeMs`, or before all published runs that stay.
 */
function mayDelete(
  run: Pick<RunToPrune, 'state' | 'startedAt'>,
  options: PlanOptions,
  published: readonly PublishedRun[],
): boolean {
  if (mayBeInProgress(run, options)) return false;
  const { rule } = options;
  const { startedAt } = run;
  if (rule.kind === 'older') return Date.parse(startedAt) < rule.beforeMs;
  const staying = published.slice(0, rule.keep);
  return staying.length > 0 && staying.every((kept) => startedAt < runOfId(kept.run).startedAt);
}

/**
 * For each run, the folder where it is or was published, even if only its Parquet files, uses or changes still exist.
 */
async function foldersIn(store: Store, place: Place): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const prefix of foldersOf(`${place}/`))
    for await (const { key } of store.list(prefix)) {
      const [folder = '', run] = /^dt=[^/]+\/run=([^/]+)\//.exec(key.slice(prefix.length)) ?? [];
      if (run !== undefined) found.set(run, `${place}/${folder}`);
    }
  return found;
}

async function sizeOf(store: Store, run: Pick<RunToPrune, 'place' | 'run' | 'folder'>) {
  let [objects, bytes] = [0, 0];
  const folders = run.folder === undefined ? [] : foldersOf(run.folder);
  for (const prefix of [...folders, workFolder(run.place, { id: run.run })])
    for await (const { sizeBytes } of store.list(prefix)) [objects, bytes] = [objects + 1, bytes + sizeBytes];
  return { objects, bytes };
}

type PruneOptions = Pick<PrunePlan, 'place' | 'runs'> & {
  readonly store: Store;
  /** Removes a run from the tables in the AWS account; undefined if there are no such tables. */
  readonly removePartition: ((place: Place, run: Run) => Promise<void>) | undefined;
  readonly signal: AbortSignal;
  readonly onRemoved: (run: RunToPrune) => void;
};

type StillNeeded = { readonly run: string; readonly reason: string };

/**
 * Removes runs of a place one after another. Returns the runs that must stay, with the reasons. First, a run is listed
 * in `latest.json` as removed, permanently: a publisher that read `latest.json` earlier can no longer replace it, and
 * later ones never publish a removed run. So each step may be repeated, even late or by several prunes. After that its
 * partition is deleted, then its manifests, then its parts, Parquet files and changes, and its folder under `work/`.
 */
export async function pruneRuns(options: PruneOptions): Promise<readonly StillNeeded[]> {
  const { store, place, runs, onRemoved, signal } = options;
  const needed: StillNeeded[] = [];
  // A run that is only under `work/` need not be listed as removed. Such runs are deleted first: on a full disk, that
  // makes room for listing the others.
  for (const run of runs.toSorted(
    (a, b) => Number(a.folder !== undefined) - Number(b.folder !== undefined),
  )) {
    signal.throwIfAborted();
    const reason = run.folder === undefined ? undefined : await listAsRemoved(run, options);
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

/** Lists a run as removed in `latest.json`. If the run must stay, returns the reason instead. */
async function listAsRemoved(
  { run, state }: RunToPrune,
  { store, place, signal }: PruneOptions,
): Promise<string | undefined> {
  const table = await store.get(`${latestParquetFolder(sourceOf(place))}symlink.txt`);
  if (table?.body.includes(`/run=${run}/`)) return 'the table of the latest run still reads it';
  const key = latestKey(place);
  let reason: string | undefined;
  await updateObject(
    store,
    key,
    (found) => {
      if (found === undefined) reason = `${key} no longer exists`;
      if (found === undefined) return undefined;
      const latest = parseStored(key, found.body, latestSchema);
      const earlier = latest.earlier.filter((each) => runOfKey(each) !== run);
      const isPublished =
        latest.run === run || (state !== 'published' && earlier.length < latest.earlier.length);
      reason = isPublished ? 'it has been published again' : undefined;
      if (isPublished || latest.removed.includes(run)) return undefined;
      return printStoredLine({ ...latest, earlier, removed: [...latest.removed, run] });
    },
    // The write may use the reserved space, since pruning frees space.
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

/**
 * Deletes the objects that published runs still have under `work/` in a directory store; in S3 a lifecycle rule does
 * that. If an object cannot be deleted, it only warns, since the next publication tries again. If another process is
 * publishing one of these runs, that process fails; but the run is already published.
 */
export async function clearPublishedWork(
  store: Store,
  place: Place,
  /** Called with what could not be deleted, in words, and why. */
  warn: (what: string, reason: Error) => void,
): Promise<void> {
  if (store.fileOf === undefined) return;
  try {
    const left = new Set<string>();
    for await (const folder of store.folders(`work/${place}/`)) left.add(folder);
    for (const { run } of left.size === 0 ? [] : await publishedRuns(store, place))
      if (left.has(workFolder(place, { id: run }).slice(0, -1))) await deleteWork(store, place, run);
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof StoredObjectError)) throw error;
    warn(`objects of published runs of ${place} under work/ could not be deleted`, error);
  }
}

/**
 * Deletes the work folder of a run. The names of the objects with which another process could resume or publish the run
 * begin with `_`, so they are listed first and deleted first.
 */
async function deleteWork(store: Store, place: Place, run: string): Promise<void> {
  for await (const { key } of store.list(workFolder(place, { id: run }))) await store.delete(key);
}
