import type { Store } from '../../store/index.ts';
import { type PublishedRun, publishedRuns } from '../changes/published-runs.ts';
import { foldersOf, type Place, workFolder } from '../keys.ts';
import { readLastPublication } from '../publish/publish-parts.ts';
import { runOfId } from '../run-id.ts';
import { findRuns } from './list-runs.ts';
import { placesIn } from './places.ts';
import { type UnpublishedRun, unpublishedRuns } from './unpublished-runs.ts';

/** Which runs of a place go: all but the newest `keep` published ones, or those that started before a moment (epoch ms). */
export type PruneRule =
  | { readonly kind: 'keep'; readonly keep: number }
  | { readonly kind: 'older'; readonly beforeMs: number };

/** `half-pruned`: a prune was stopped. `left`: what a publisher has left of a run with nothing published or under `work/`. */
export type RunToPrune = {
  readonly place: Place;
  readonly run: string;
  readonly startedAt: string;
  readonly state: 'published' | 'half-pruned' | 'left' | UnpublishedRun['state'];
  /** Where it is, or would be, published; undefined for a run of which nothing goes but what is under `work/`. */
  readonly folder: string | undefined;
  readonly objects: number;
  readonly bytes: number;
};

export type PrunePlan = {
  readonly place: Place;
  readonly runs: readonly RunToPrune[];
  /** What is missing or damaged of the last published run, in words: then nothing goes. */
  readonly broken: string | undefined;
};

export type PlanOptions = {
  readonly store: Store;
  readonly place: Place;
  readonly rule: PruneRule;
  readonly nowMs: number;
  readonly signal?: AbortSignal | undefined;
};

/** A run that has not finished may still be taken: it goes only if it started this long ago. */
const UNFINISHED_MS = 7 * 86_400_000;

type PrunesToPlan = Omit<PlanOptions, 'place' | 'rule' | 'nowMs'> & {
  /** Default: all that there are. */
  readonly place: Place | undefined;
  /** `beforeMs` is counted from the start of the newest run, epoch milliseconds, and not from this machine's clock. */
  readonly rule:
    | { readonly kind: 'keep'; readonly keep: number }
    | { readonly kind: 'older'; readonly beforeMs: (newestMs: number) => number };
  readonly signal: AbortSignal;
};

/** Plans which runs of each place to delete; read-only. A clock that is ahead of all runs deletes none. */
export async function planPrunes({
  store,
  place,
  rule: given,
  signal,
}: PrunesToPlan): Promise<readonly PrunePlan[]> {
  const { listed } = await findRuns({ store, place: undefined, all: true, limit: 1, signal });
  const newestMs = Math.max(...listed.map(({ startedAt }) => Date.parse(startedAt)));
  const nowMs = Math.min(newestMs, Date.now());
  const rule = given.kind === 'keep' ? given : { ...given, beforeMs: given.beforeMs(newestMs) };
  const plans: PrunePlan[] = [];
  for (const each of place === undefined ? await placesIn(store) : [place])
    plans.push(await planPrune({ store, place: each, rule, nowMs, signal }));
  return plans;
}

/** Plans which runs of a place to delete; read-only. */
export async function planPrune(options: PlanOptions): Promise<PrunePlan> {
  const { store, place, signal } = options;
  const { latest, broken } = await readLastPublication(store, place);
  // What was published before may be all that is left.
  if (broken !== undefined) return { place, runs: [], broken };
  const published = await publishedRuns(store, place, { signal });
  // Without latest.json each of them may have been published.
  const folders = latest === undefined ? new Map<string, string>() : await foldersIn(store, place);
  const removed = new Set(latest?.removed);
  const found = published
    .slice(1)
    .filter(({ run }, at) => isPast(options.rule, run, at + 1))
    .map(({ run }): Found => ({ run, state: 'published', ...startOf(run) }));
  const known = new Set(published.map(({ run }) => run));
  const add = (each: Found) => {
    if (removed.has(each.run)) found.push({ ...each, state: 'half-pruned' });
    else if (mayGo(each, options, published)) found.push(each);
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

type Found = Pick<RunToPrune, 'run' | 'state' | 'startedAt'>;

const startOf = (run: string) => ({ startedAt: runOfId(run).startedAt });

/** `at`: how many published runs are newer. */
const isPast = (rule: PruneRule, run: string, at: number): boolean =>
  rule.kind === 'keep' ? at >= rule.keep : Date.parse(runOfId(run).startedAt) < rule.beforeMs;

const mayBeTaken = ({ state, startedAt }: Pick<RunToPrune, 'state' | 'startedAt'>, { nowMs }: PlanOptions) =>
  state === 'unfinished' && Date.parse(startedAt) > nowMs - UNFINISHED_MS;

/** A run that is not published goes if it started before all published runs that stay, or before the moment. */
function mayGo(
  run: Pick<RunToPrune, 'state' | 'startedAt'>,
  options: PlanOptions,
  published: readonly PublishedRun[],
): boolean {
  if (mayBeTaken(run, options)) return false;
  const { rule } = options;
  const { startedAt } = run;
  if (rule.kind === 'older') return Date.parse(startedAt) < rule.beforeMs;
  const staying = published.slice(0, rule.keep);
  return staying.length > 0 && staying.every((kept) => startedAt < runOfId(kept.run).startedAt);
}

/** By the run, the folders in which something is, or would be but for its Parquet and changes. */
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
