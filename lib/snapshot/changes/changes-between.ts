import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDirectoryStore } from '../../store/directory.ts';
import type { Store } from '../../store/index.ts';
import { type Place, sourceOf } from '../keys.ts';
import { type Manifest, manifestOf } from '../manifest.ts';
import { publishChanges } from '../publish/publish-changes.ts';
import type { Change } from './change.ts';
import type { Comparison, ObserveComparison } from './comparison.ts';
import type { EarlierRun } from './run-pair.ts';
import { storedChanges } from './stored-changes.ts';

export type RunsToCompare = {
  readonly store: Store;
  readonly place: Place;
  /** Undefined if nothing was published before. */
  readonly before: EarlierRun | undefined;
  readonly after: Manifest;
  /** The most memory for records that are not in order, in bytes. */
  readonly memoryBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** Makes what hears of a comparison with the run of this name. */
  readonly observe?: (before: string) => ObserveComparison;
};

/** What changed from one published run to another. */
export type ChangesBetween = {
  /** Null if there is nothing to compare with: in that case nothing is compared. */
  readonly old: string | null;
  /** Undefined if nothing is compared. Read them to their end, or end the reading. */
  readonly steps: AsyncGenerator<Change> | undefined;
  /** True if they were stored when the later run was published. */
  readonly isStored: boolean;
};

/** The changes between two runs: those that were stored, or found by comparing all records. */
export async function changesBetween(runs: RunsToCompare): Promise<ChangesBetween> {
  const { store, place, before, after, signal } = runs;
  const none = { old: null, steps: undefined, isStored: false };
  if (before === undefined) return none;
  const stored =
    after.changes?.against === before.run
      ? await storedChanges({ store, changes: after.changes, signal })
      : undefined;
  if (stored !== undefined) return { old: before.run, steps: stored, isStored: true };
  const { run, manifest } = before.manifest === undefined ? { ...before.instead } : before;
  if (run === undefined || manifest === undefined) return none;
  const older = await manifestOf(store, manifest, { place, run });
  const { memoryBytes, observe } = runs;
  const compared = { store, source: sourceOf(place), before: older, after, memoryBytes, signal };
  const steps = compareRuns({ ...compared, observe: observe?.(older.run) });
  return { old: older.run, steps, isStored: false };
}

/** The changes from one run to another, as `publishChanges` finds them, by comparing all records. */
export async function* compareRuns(comparison: Comparison): AsyncGenerator<Change> {
  await using scratch = await openScratch();
  const [store, key] = [scratch.store, 'changes.ndjson.gz'];
  const counts = await publishChanges({ ...comparison, to: store, key, scratch: '' });
  const { signal } = comparison;
  yield* (await storedChanges({ store, changes: { against: 'before', ...counts, key }, signal })) ?? [];
}

/** A folder of this machine for what a comparison writes, removed when it is disposed. */
async function openScratch() {
  const folder = await mkdtemp(join(tmpdir(), 'platform-sync-diff-'));
  return {
    store: createDirectoryStore(folder),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
