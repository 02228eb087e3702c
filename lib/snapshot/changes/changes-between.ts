import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type Store } from '../../store/index.ts';
import { type Place, sourceOf } from '../keys.ts';
import { type Manifest, manifestOf } from '../manifest.ts';
import { publishChanges } from '../publish/publish-changes.ts';
import { runOfId } from '../run-id.ts';
import { type PublishedRun, publishedRuns } from './published-runs.ts';
import type { Change, Comparison } from './side-by-side.ts';
import { storedChanges } from './stored-changes.ts';

export type RunsToCompare = {
  readonly store: Store;
  readonly place: Place;
  /** Default: the run that `now` was compared with when it was published; if it was not, the run before it. */
  readonly old?: string | undefined;
  /** Default: the last published run. */
  readonly now?: string | undefined;
  /** Epoch milliseconds, in place of `old`: the last run started by then; if none, the first published one but `now`. */
  readonly sinceMs?: number | undefined;
  /** The most memory for records that are not in order, in bytes. */
  readonly memoryBytes: number;
  readonly signal?: AbortSignal | undefined;
};

type RunChanges =
  | { readonly kind: 'nothing-published' }
  | { readonly kind: 'unknown-run'; readonly run: string; readonly runs: readonly PublishedRun[] }
  | {
      readonly kind: 'found';
      /** Null if there is nothing to compare with: in that case nothing is compared. */
      readonly old: string | null;
      readonly after: Manifest;
      /** Undefined if nothing is compared. Read them to their end, or end the reading. */
      readonly steps: AsyncGenerator<Change> | undefined;
      readonly isStored: boolean;
    };

/** Two published runs and the changes between them, stored or found now. Throws `StoredObjectError` if one is damaged. */
export async function changesBetween(wanted: RunsToCompare): Promise<RunChanges> {
  const { store, place, memoryBytes, signal } = wanted;
  const runs = await publishedRuns(store, place, { signal });
  const find = (name: string) => runs.find(({ run }) => run === name);
  const newer = wanted.now === undefined ? runs[0] : find(wanted.now);
  if (runs.length === 0) return { kind: 'nothing-published' };
  if (newer === undefined) return { kind: 'unknown-run', run: wanted.now ?? '', runs };
  if (wanted.old !== undefined && find(wanted.old) === undefined)
    return { kind: 'unknown-run', run: wanted.old, runs };
  const after = await manifestOf(store, newer.manifest, { place, run: newer.run });
  const old = nameBefore(wanted, runs, newer, after);
  const older = old === undefined ? undefined : find(old);
  if (old !== undefined && old === after.changes?.against) {
    const steps = await storedChanges({ store, changes: after.changes, signal });
    if (steps !== undefined) return { kind: 'found', old, after, steps, isStored: true };
  }
  if (older === undefined) return { kind: 'found', old: null, after, steps: undefined, isStored: false };
  const before = await manifestOf(store, older.manifest, { place, run: older.run });
  const steps = compareRuns({ store, source: sourceOf(place), before, after, memoryBytes, signal });
  return { kind: 'found', old: older.run, after, steps, isStored: false };
}

/** The name of the run to compare with, which may have been removed: then only changes that are stored can be shown. */
function nameBefore(
  { old, sinceMs }: RunsToCompare,
  runs: readonly PublishedRun[],
  newer: PublishedRun,
  { changes }: Manifest,
): string | undefined {
  if (old !== undefined) return old;
  if (sinceMs === undefined) return changes?.against ?? runs[runs.indexOf(newer) + 1]?.run;
  const startedMs = ({ run }: PublishedRun) => Date.parse(runOfId(run).startedAt);
  const by = runs.find((each) => startedMs(each) <= sinceMs) ?? runs.at(-1);
  return by === newer && startedMs(newer) > sinceMs ? undefined : by?.run;
}

/** The changes from one run to another, as `publishChanges` finds them, by comparing all records. */
export async function* compareRuns(comparison: Comparison): AsyncGenerator<Change> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-sync-diff-'));
  try {
    const to = await openStore(folder);
    const key = 'changes.ndjson.zst';
    const counts = await publishChanges({ ...comparison, to, key, scratch: '' });
    const { signal } = comparison;
    yield* (await storedChanges({ store: to, changes: { against: 'before', ...counts, key }, signal })) ?? [];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
