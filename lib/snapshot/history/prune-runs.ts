import type { Store } from '../../store/store.ts';
import { parseStored, printStored, StoredObjectError } from '../../store/stored-json.ts';
import {
  isManifestKey,
  latestKey,
  latestParquetFolder,
  MANIFEST_NAME,
  type Place,
  PRUNED_NAME,
  workFolder,
} from '../keys.ts';
import { type Latest, latestSchema, MOST_LATEST_BYTES } from '../manifest.ts';
import { pointAtLatest } from '../publish/latest-parquet.ts';
import type { Partitions } from '../publish/partitions.ts';
import { CHECKPOINT_NAME } from '../run/checkpoint.ts';
import type { RunToPrune } from './plan-prune.ts';
import { foldersOf } from './run-folders.ts';

export type PruneOptions = {
  readonly store: Store;
  readonly place: Place;
  readonly runs: readonly RunToPrune[];
  readonly partitions: Partitions | undefined;
  readonly signal: AbortSignal;
  /** A run is gone. */
  readonly onRemoved: (run: RunToPrune) => void;
};

/** Why a run was not removed, in words. */
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
 * Each step may be repeated. A prune that was stopped is continued by the next one, which finds the mark.
 */
export async function pruneRuns(options: PruneOptions): Promise<readonly StillNeeded[]> {
  const { store, place, runs, onRemoved, signal } = options;
  const published = runs.filter(({ folder }) => folder !== undefined);
  for (const { folder, run } of published)
    await store.put(`${folder}${PRUNED_NAME}`, printStored({ place, run }));
  const needed = published.length === 0 ? [] : await stillNeeded(options, published);
  for (const run of runs) {
    signal.throwIfAborted();
    if (needed.some((each) => each.run === run.run)) {
      await store.delete(`${run.folder}${PRUNED_NAME}`);
      continue;
    }
    if (run.folder !== undefined) await removePublished(options, run, run.folder);
    await removeAll(store, workFolder(place, { id: run.run }), [CHECKPOINT_NAME, MANIFEST_NAME]);
    if (run.folder !== undefined) await store.delete(`${run.folder}${PRUNED_NAME}`);
    onRemoved(run);
  }
  return needed;
}

async function stillNeeded(
  { store, place }: PruneOptions,
  runs: readonly RunToPrune[],
): Promise<readonly StillNeeded[]> {
  const latest = await refreshLatest(store, place);
  await pointAtLatest(store, place);
  const symlinks = (await store.get(`${latestParquetFolder(place)}symlink.txt`))?.body.toString() ?? '';
  return runs.flatMap(({ run }) => {
    if (run === latest?.run) return [{ run, reason: 'it has been published again' }];
    return symlinks.includes(`/run=${run}/`)
      ? [{ run, reason: 'the table of the latest run is over it' }]
      : [];
  });
}

/** How often others may move `latest.json` before we give up. */
const MOST_ROUNDS = 20;

/** More white space than that begins at one again. */
const MOST_SPACES = 1_000;

/** Stores `latest.json` again, so that whoever read it before can no longer move it. Returns what it says. */
async function refreshLatest(store: Store, place: Place): Promise<Latest | undefined> {
  const key = latestKey(place);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const stored = await store.get(key, { mostBytes: MOST_LATEST_BYTES });
    if (stored === undefined) return undefined;
    const latest = parseStored(key, stored.body, latestSchema, MOST_LATEST_BYTES);
    const text = stored.body.toString();
    const spaces = ((/ *(?=\n?$)/.exec(text)?.[0].length ?? 0) % MOST_SPACES) + 1;
    const body = Buffer.from(`${text.trimEnd()}${' '.repeat(spaces)}\n`);
    const put = await store.put(key, body, { condition: { ifMatch: stored.etag } });
    if (put.kind === 'stored') return latest;
  }
  throw new StoredObjectError('invalid', `${key}: moved by publishers ${MOST_ROUNDS} times in a row`);
}

/** Removes a run outside `work/`, but for its mark. */
async function removePublished(
  { store, place, partitions }: PruneOptions,
  { run: id, startedAt, run }: RunToPrune,
  folder: string,
): Promise<void> {
  await partitions?.remove(place, { id, startedAt });
  const [own, ...others] = foldersOf(folder, { place, run });
  const keys: string[] = [];
  for await (const { key } of store.list(own)) if (!key.endsWith(`/${PRUNED_NAME}`)) keys.push(key);
  for (const key of keys.toSorted((a, b) => Number(isManifestKey(b)) - Number(isManifestKey(a))))
    await store.delete(key);
  for (const prefix of others) await removeAll(store, prefix, []);
}

async function removeAll(store: Store, prefix: string, first: readonly string[]): Promise<void> {
  for (const name of first) await store.delete(`${prefix}${name}`);
  for await (const { key } of store.list(prefix)) await store.delete(key);
}
