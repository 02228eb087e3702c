import type { Store } from '../../store/store.ts';
import { printStored } from '../../store/stored-json.ts';
import type { GateName } from '../gate-names.ts';
import {
  changesKey,
  latestKey,
  MANIFEST_NAME,
  type Place,
  publishedFolder,
  sourceOf,
  workFolder,
} from '../keys.ts';
import { type Latest, type Manifest, readLatest, readManifest } from '../manifest.ts';
import type { Run } from '../run-id.ts';
import { type GatedRun, refusals } from './gates.ts';
import type { Partitions } from './partitions.ts';
import { publishChanges } from './publish-changes.ts';
import { publishParts } from './publish-parts.ts';

/** What happened to a finished run. `key` is the key of its manifest; `latest` is what `latest.json` names now. */
export type Publication =
  | { readonly kind: 'published'; readonly manifest: Manifest; readonly key: string }
  | { readonly kind: 'refused'; readonly manifest: Manifest; readonly key: string }
  /** A run that started later was published in the meantime; this one stays under `work/`. */
  | {
      readonly kind: 'superseded';
      readonly manifest: Manifest;
      readonly key: string;
      readonly latest: Latest;
    };

export type PublishOptions = {
  readonly store: Store;
  readonly source: Place;
  readonly run: Run;
  /** All that the run found; its parts are in the work folder. */
  readonly finished: FinishedRun;
  /** Publish although a gate refused. */
  readonly force: boolean;
  /** Accepted reasons: they do not refuse this run. Default: none. */
  readonly accept?: readonly GateName[] | undefined;
  /** The tables over the published runs. Default: none. */
  readonly partitions?: Partitions | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** A manifest before the gates have decided. */
export type FinishedRun = Omit<Manifest, 'publishable' | 'refused' | 'accepted' | 'forced' | 'changes'> &
  Pick<GatedRun, 'scanRefused'>;

/** How often another publisher may move `latest.json` between our read and our write before we give up. */
const MOST_RACES = 20;

/**
 * Publishes a finished run unless a gate refuses: stores its parts, its changes and its manifest, and then moves `latest.json` on condition that nobody else has moved it in the meantime. If somebody has, the run is judged
 * and compared again, against their run, so `latest.json` never goes back to an earlier start. A run that is already
 * published stays published.
 *
 * The run's partition is added just before `latest.json` moves, so that anyone who follows it finds the run in the
 * tables. If `latest.json` does not move to the run, its partition is removed again.
 */
export async function publishRun(options: PublishOptions): Promise<Publication> {
  for (;;) {
    const publication = await publishSlice({ ...options, isOver: () => false });
    if (publication !== undefined) return publication;
  }
}

/** A slice of a publication. */
export type PublishSliceOptions = PublishOptions & {
  /** Asked after each piece of work, which takes seconds: true ends the slice. */
  readonly isOver: () => boolean;
};

/**
 * Does some of what `publishRun` does: undefined if there is more to do. What has been done is recorded under `work/`, so
 * that the next slice continues there, in this process or another; whatever stopped the last one, the same bytes are
 * published.
 */
export async function publishSlice(options: PublishSliceOptions): Promise<Publication | undefined> {
  for (let race = 0; race < MOST_RACES; race += 1) {
    const publication = await tryToPublish(options);
    if (publication !== 'lost-race') return publication;
  }
  throw new Error(
    `${latestKey(options.source)} was moved by other publishers ${MOST_RACES} times in a row; nothing was published`,
  );
}

async function tryToPublish(options: PublishSliceOptions): Promise<Publication | 'lost-race' | undefined> {
  const { store, source, run, finished, force, accept = [], partitions } = options;
  const latest = await readLatest(store, source);
  const last = latest === undefined ? undefined : await readManifest(store, latest.manifest);
  if (latest?.run === run.id && last !== undefined) {
    // It may have been published before there were tables.
    await partitions?.add(source, run);
    return { kind: 'published', manifest: last, key: latest.manifest };
  }

  const reasons = refusals(finished, last);
  const refused = reasons.filter((reason) => !accept.includes(reason));
  const accepted = reasons.filter((reason) => accept.includes(reason));
  const { scanRefused: _, ...found } = finished;
  const publishable = refused.length === 0;
  const manifest: Manifest = {
    ...found,
    changes: null,
    publishable,
    refused,
    accepted,
    forced: force && !publishable,
  };
  const workKey = `${workFolder(source, run)}${MANIFEST_NAME}`;
  await store.put(workKey, printStored(manifest));
  const key = `${publishedFolder(source, run)}${MANIFEST_NAME}`;
  if (latest !== undefined && latest.startedAt >= run.startedAt) {
    await settlePartition(options, key);
    return { kind: 'superseded', manifest, key: workKey, latest };
  }
  if (!publishable && !force) {
    // A publisher that was stopped may have added it while the last published run was a different one.
    await partitions?.remove(source, run);
    return { kind: 'refused', manifest, key: workKey };
  }

  const published = await storeRun(options, manifest, last);
  if (published === undefined) return undefined;
  await store.put(key, printStored(published));
  await partitions?.add(source, run);
  const next: Latest = { run: run.id, manifest: key, startedAt: run.startedAt };
  const moved = await store.put(latestKey(source), printStored(next), {
    condition: latest === undefined ? { ifAbsent: true } : { ifMatch: latest.etag },
  });
  if (moved.kind === 'stored') return { kind: 'published', manifest: published, key };
  await withdraw(options, key);
  return 'lost-race';
}

/**
 * Removes what was written for a run that `latest.json` did not move to: nobody who lists the published runs may find
 * it. Does nothing if another publisher of this run moved it there after all.
 */
async function withdraw({ store, source, run, partitions }: PublishOptions, key: string): Promise<void> {
  if ((await readLatest(store, source))?.run === run.id) return;
  await partitions?.remove(source, run);
  await store.delete(key);
  await store.delete(changesKey(source, run));
}

/** A run that `latest.json` was moved past belongs in the tables if it was published, that is, if it has a manifest. */
async function settlePartition(
  { store, source, run, partitions }: PublishOptions,
  key: string,
): Promise<void> {
  if (partitions === undefined) return;
  const wasPublished = (await store.get(key)) !== undefined;
  await (wasPublished ? partitions.add(source, run) : partitions.remove(source, run));
}

/**
 * Stores the parts of the manifest in the run's folder, put together as `composeParts` says, and compares them with the
 * last run. Returns the manifest with the published parts and the counts of changes; undefined if the slice is over.
 */
async function storeRun(
  { store, source, run, isOver, signal }: PublishSliceOptions,
  manifest: Manifest,
  last: Manifest | undefined,
): Promise<Manifest | undefined> {
  const work = `${workFolder(source, run)}publish/`;
  const stored = await publishParts({
    store,
    parts: manifest.parts,
    folder: publishedFolder(source, run),
    records: work,
    isOver,
  });
  if (stored === undefined) return undefined;
  const parts = [...stored];
  if (last === undefined) return { ...manifest, parts };
  const counts = await publishChanges({
    store,
    source: sourceOf(source),
    before: last,
    after: { parts },
    key: changesKey(source, run),
    pieces: `${work}against-${last.run}/`,
    isOver,
    signal,
  });
  return counts && { ...manifest, parts, changes: { against: last.run, ...counts } };
}

/** A finished run that was not published, read from its manifest under `work/`. Throws `StoredObjectError`. */
export async function readFinishedRun(store: Store, source: Place, run: string): Promise<FinishedRun> {
  const {
    publishable: _p,
    refused,
    accepted = [],
    forced: _f,
    changes: _c,
    ...found
  } = await readManifest(store, `${workFolder(source, { id: run })}${MANIFEST_NAME}`);
  const scanRefused = (['degraded', 'incomplete'] as const).filter((reason) =>
    [...refused, ...accepted].includes(reason),
  );
  return { ...found, scanRefused };
}
