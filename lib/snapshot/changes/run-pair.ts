import type { Store } from '../../store/store.ts';
import { type Manifest, readManifest } from '../manifest.ts';
import type { PublishedRun } from './published-runs.ts';

export type RunPairOptions = {
  readonly store: Store;
  /** The published runs, newest first; at least one. */
  readonly runs: readonly PublishedRun[];
  /** Default: the run that `now` was compared with when it was published; if that is gone, the run before it. */
  readonly old: string | undefined;
  /** Default: the last published run. */
  readonly now: string | undefined;
};

/** Two runs to compare; `before` is undefined if nothing was published before `after`. */
export type RunPair =
  | { readonly kind: 'found'; readonly before: Manifest | undefined; readonly after: Manifest }
  | { readonly kind: 'unknown-run'; readonly run: string };

/** Finds the manifests of two published runs by their names. */
export async function findRunPair({ store, runs, old, now }: RunPairOptions): Promise<RunPair> {
  const find = (name: string) => runs.find(({ run }) => run === name);
  const newer = now === undefined ? runs[0] : find(now);
  const older = old === undefined ? undefined : find(old);
  if (newer === undefined) return { kind: 'unknown-run', run: now ?? '' };
  if (old !== undefined && older === undefined) return { kind: 'unknown-run', run: old };
  const after = await readManifest(store, newer.manifest);
  const against = older ?? find(after.changes?.against ?? '') ?? runs[runs.indexOf(newer) + 1];
  const before = against === undefined ? undefined : await readManifest(store, against.manifest);
  return { kind: 'found', before, after };
}
