import type { Store } from '../../store/index.ts';
import { type PublishedRun, publishedRuns } from '../changes/published-runs.ts';
import { foldersOf, type Place, PRUNED_NAME, workFolder } from '../keys.ts';
import { readLastPublication } from '../publish/last-publication.ts';
import { runOfId } from '../run-id.ts';
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
  /** Where it is, or would be, published; undefined for a run that is only under `work/`. */
  readonly folder: string | undefined;
  readonly objects: number;
  readonly bytes: number;
};

/** A run outside `work/`. */
type LeftRun = Pick<RunToPrune, 'run' | 'startedAt'> & { readonly folder: string };

export type PrunePlan = {
  readonly place: Place;
  readonly runs: readonly RunToPrune[];
  /** Runs that are not published and stay, of which publishers that lost, or were killed, have left something, or a prune. */
  readonly left: readonly LeftRun[];
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

/** Says which runs of a place go. Changes nothing. */
export async function planPrune(options: PlanOptions): Promise<PrunePlan> {
  const { store, place, signal } = options;
  const last = await readLastPublication(store, place);
  // What was published before may be all that is left.
  if (last.broken !== undefined) return { place, runs: [], left: [], broken: last.broken };
  const published = await publishedRuns(store, place, { signal });
  const found: Omit<RunToPrune, 'objects' | 'bytes'>[] = published
    .slice(1)
    .filter(({ run }, at) => isPast(options.rule, run, at + 1))
    .map(({ run, manifest }) => ({
      place,
      run,
      state: 'published',
      folder: folderIn(manifest),
      ...startOf(run),
    }));
  const isFound = (run: string) => found.some((each) => each.run === run);
  const names = new Set(published.map(({ run }) => run));
  const folders = await foldersIn(store, place);
  const left: LeftRun[] = [];
  const all = unpublishedRuns({ store, place, published, latest: last.latest, signal });
  for await (const { run, state, startedAt } of all) {
    names.add(run);
    const folder = folders.get(run)?.folder;
    const each = { place, run, state, folder, startedAt };
    if (!isFound(run) && mayGo(each, options, published)) found.push(each);
    else if (folder !== undefined && !mayBeTaken(each, options)) left.push({ run, startedAt, folder });
  }
  for (const [run, { folder, isMarked }] of folders) {
    const each = { place, run, state: isMarked ? 'half-pruned' : 'left', folder, ...startOf(run) } as const;
    if (isFound(run) || left.some((other) => other.run === run)) continue;
    const isLeft = !names.has(run);
    if (isLeft && (isMarked || mayGo(each, options, published))) found.push(each);
    // The prune that has marked it may have been about to leave what is under `work/`.
    else if (isLeft || isMarked) left.push(each);
  }
  const runs: RunToPrune[] = [];
  for (const run of found) runs.push({ ...run, ...(await sizeOf(store, run)) });
  return { place, runs, left, broken: undefined };
}

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
  const [{ startedAt }, { rule }] = [run, options];
  if (rule.kind === 'older') return Date.parse(startedAt) < rule.beforeMs;
  const staying = published.slice(0, rule.keep);
  return staying.length > 0 && staying.every((kept) => startedAt < runOfId(kept.run).startedAt);
}

const folderIn = (manifest: string) => manifest.slice(0, manifest.lastIndexOf('/') + 1);

type Folder = { readonly folder: string; readonly isMarked: boolean };

/** By the run, the folders in which something is, or would be but for its Parquet and changes; those being removed are marked. */
async function foldersIn(store: Store, place: Place): Promise<ReadonlyMap<string, Folder>> {
  const found = new Map<string, Folder>();
  for (const prefix of foldersOf(`${place}/`))
    for await (const { key } of store.list(prefix)) {
      const [folder = '', run] = /^dt=[^/]+\/run=([^/]+)\//.exec(key.slice(prefix.length)) ?? [];
      if (run === undefined) continue;
      const isMarked = found.get(run)?.isMarked === true || key.endsWith(`/${PRUNED_NAME}`);
      found.set(run, { folder: `${place}/${folder}`, isMarked });
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
