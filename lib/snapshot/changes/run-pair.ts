import type { Store } from '../../store/index.ts';
import type { Place } from '../keys.ts';
import { type Manifest, manifestOf } from '../manifest.ts';
import { runOfId } from '../run-id.ts';
import type { PublishedRun } from './published-runs.ts';

export type RunPairOptions = {
  readonly store: Store;
  readonly place: Place;
  /** Its published runs, newest first; at least one. */
  readonly runs: readonly PublishedRun[];
  /** Default: the run that `now` was compared with when it was published; if that is gone, the run before it. */
  readonly old: string | undefined;
  /** Default: the last published run. */
  readonly now: string | undefined;
  /**
   * Epoch milliseconds, in place of `old`: the last run that had started by then; if none had, the first one that is
   * published, unless that is `now`: then there is nothing to compare with.
   */
  readonly sinceMs?: number | undefined;
};

/** An earlier run to compare with. Its manifest is not read: with stored changes nobody needs it. */
export type EarlierRun = {
  readonly run: string;
  /** Undefined if the run was removed: only changes that are stored can be shown. */
  readonly manifest: string | undefined;
  /** The run to compare with if those are gone as well. */
  readonly instead: PublishedRun | undefined;
};

/** Two runs to compare; `before` is undefined if nothing was published before `after`. */
export type RunPair =
  | { readonly kind: 'found'; readonly before: EarlierRun | undefined; readonly after: Manifest }
  | { readonly kind: 'unknown-run'; readonly run: string };

/** Finds two published runs by their names or by when they started. Throws `StoredObjectError` if the later one is damaged. */
export async function findRunPair({
  store,
  place,
  runs,
  old,
  now,
  sinceMs,
}: RunPairOptions): Promise<RunPair> {
  const find = (name: string) => runs.find(({ run }) => run === name);
  const newer = now === undefined ? runs[0] : find(now);
  const older = old !== undefined ? find(old) : sinceMs === undefined ? undefined : startedBy(runs, sinceMs);
  if (newer === undefined) return { kind: 'unknown-run', run: now ?? '' };
  if (old !== undefined && older === undefined) return { kind: 'unknown-run', run: old };
  const after = await manifestOf(store, newer.manifest, { place, run: newer.run });
  if (older === newer && sinceMs !== undefined && startedMs(newer) > sinceMs)
    return { kind: 'found', before: undefined, after };
  if (older !== undefined) return { kind: 'found', before: { ...older, instead: undefined }, after };
  const previous = runs[runs.indexOf(newer) + 1];
  const against = after.changes?.against;
  const before =
    against === undefined
      ? previous && { ...previous, instead: undefined }
      : { run: against, manifest: find(against)?.manifest, instead: previous };
  return { kind: 'found', before, after };
}

/** The last run that had started by a moment, to the second; the first one if none had. */
function startedBy(runs: readonly PublishedRun[], momentMs: number): PublishedRun | undefined {
  return runs.find((each) => startedMs(each) <= momentMs) ?? runs.at(-1);
}

const startedMs = ({ run }: PublishedRun): number => Date.parse(runOfId(run).startedAt);
