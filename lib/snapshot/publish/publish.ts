import { randomBytes } from 'node:crypto';
import {
  MAX_LIST_BYTES,
  parseStored,
  printBounded,
  printStored,
  printStoredLine,
  type Store,
  type StoredObject,
  StoredObjectError,
  StoreError,
  unlessDamaged,
  updateObject,
} from '../../store/index.ts';
import { publishChanges } from '../changes/changes-between.ts';
import {
  changesKey,
  isManifestKey,
  latestKey,
  MANIFEST_NAME,
  type Place,
  publishedFolder,
  type Run,
  runOfKey,
  sourceOf,
  workFolder,
} from '../keys.ts';
import { type Latest, latestSchema, type Manifest, manifestOf, publishedRuns } from '../manifest.ts';
import type { GateName, MissingId } from '../scan.ts';
import { type Gates, isSuperseded, minShareOf, missingSince, refusals } from './gates.ts';
import { publishParts, readLastPublication, untagLatest } from './publish-parts.ts';

type LastPublication = Awaited<ReturnType<typeof readLastPublication>>;

/** What happened to a finished run. `key`: the key of its manifest; `latest`: the current content of `latest.json`. */
export type Publication =
  | { readonly kind: 'published'; readonly manifest: Manifest; readonly key: string }
  | {
      readonly kind: 'refused';
      readonly manifest: Manifest;
      readonly key: string;
      /** What is missing or damaged in the last published run, in words; undefined if nothing is. */
      readonly broken: string | undefined;
    }
  /** A run that started later was published in the meantime; this run stays under `work/`. */
  | {
      readonly kind: 'superseded';
      readonly manifest: Manifest;
      readonly key: string;
      readonly latest: Latest;
    };

type PublishOptions = {
  readonly store: Store;
  readonly source: Place;
  readonly run: Run;
  /** The run's manifest so far. Its parts are in the work folder. */
  readonly finished: FinishedRun;
  readonly force: boolean;
  readonly accept?: readonly GateName[] | undefined;
  /** The setting SYNC_GATES. Default: every place has the default gates. */
  readonly gates?: Gates | undefined;
  /** The clock, in epoch milliseconds. Default: this machine's. */
  readonly now?: (() => number) | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** A manifest without the decision of the gates. */
type FinishedRun = Omit<
  Manifest,
  'publishable' | 'refused' | 'accepted' | 'forced' | 'changes' | 'missing' | 'lastSizes' | 'minShare'
> &
  Pick<Parameters<typeof refusals>[0], 'scanRefused'> & { readonly missing: readonly MissingId[] };

/**
 * Publishing gives up after other publishers have replaced `latest.json` this many times between its read and its
 * write.
 */
const MAX_RACES = 20;

/**
 * Publishes a finished run unless a gate refuses it: stores its parts, its changes and its manifest, then moves
 * `latest.json`. If another publisher has moved it in the meantime, the run is checked and compared again, so
 * `latest.json` never moves to a run with an earlier start, except by force. Publishing a published run again changes
 * nothing. If a publication was stopped, the next call continues it with the same bytes. Tables are built afterwards
 * (`buildTables`).
 */
export async function publishRun(options: PublishOptions): Promise<Publication> {
  for (let race = 0; race < MAX_RACES; race += 1) {
    const publication = await publishAfter(options, await readLastPublication(options.store, options.source));
    if (publication !== 'lost-race') return publication;
  }
  throw new Error(
    `${latestKey(options.source)} was moved by other publishers ${MAX_RACES} times in a row; nothing was published`,
  );
}

/** Whether the error is about a missing or damaged object. Other errors say nothing about what is stored. */
const isObjectError = (error: unknown): error is Error =>
  error instanceof StoredObjectError || (error instanceof StoreError && error.failure.kind === 'missing');

async function publishAfter(
  options: PublishOptions,
  last: LastPublication,
): Promise<Publication | 'lost-race'> {
  const { store, source, run, finished, force } = options;
  const { latest } = last;
  if (latest?.removed.includes(run.id))
    throw new StoredObjectError('invalid', `run ${run.id} of ${source} was deleted by platform-sync prune`);
  const before = last.broken === undefined ? last.manifest : undefined;
  if (latest?.run === run.id && before !== undefined)
    return { kind: 'published', manifest: before, key: latest.manifest };
  const isLate = latest !== undefined && isSuperseded(finished, latest);
  const manifest = await applyGates(options, last, isLate);
  const key = `${workFolder(source, run)}${MANIFEST_NAME}`;
  await store.put(key, printBounded(key, manifest, MAX_LIST_BYTES));
  if (isLate && !force) return { kind: 'superseded', manifest, key, latest };
  if (!manifest.publishable && !force) return { kind: 'refused', manifest, key, broken: last.broken };
  try {
    return await moveLatest(options, await storeRun(options, manifest, before), last);
  } catch (error) {
    if (!isObjectError(error)) throw error;
    // A prune changes latest.json before it deletes an object.
    if ((await readLastPublication(store, source)).etag !== last.etag) return 'lost-race';
    // Comparing may show that a part of the last run is damaged. Then the gates must check the run again.
    if (before?.parts.some(({ key }) => error.message.startsWith(key)) !== true) throw error;
    return publishAfter(options, { ...last, broken: error.message });
  }
}

/**
 * Copies the parts, and stores the changes under a key that only this publication uses. Returns the manifest with the
 * keys of both.
 */
async function storeRun(
  { store, source, run, signal }: PublishOptions,
  manifest: Manifest,
  last: Manifest | undefined,
): Promise<Manifest> {
  const work = workFolder(source, run);
  const folder = publishedFolder(source, run);
  const parts = await publishParts({ store, parts: manifest.parts, work, folder });
  const published = { ...manifest, parts };
  if (last === undefined) return published;
  const key = changesKey(source, run, last.run, newToken());
  const runs = { source: sourceOf(source), before: last, after: published };
  const counts = await publishChanges({ store, ...runs, key, scratch: `${work}publish/`, signal });
  return { ...published, changes: { against: last.run, ...counts, key } };
}

async function applyGates(
  options: PublishOptions,
  { manifest: last, broken }: LastPublication,
  isLate: boolean,
): Promise<Manifest> {
  const { source, finished, force, accept = [], gates = {}, now = Date.now } = options;
  const minShare = minShareOf(gates, source);
  const reasons = refusals(finished, last, { isBroken: broken !== undefined, nowMs: now(), minShare });
  const refused = reasons.filter((reason) => !accept.includes(reason));
  const accepted = reasons.filter((reason) => accept.includes(reason));
  const { scanRefused: _, ...found } = finished;
  const publishable = refused.length === 0;
  const late = force && isLate ? (['superseded'] as const) : [];
  return {
    ...found,
    missing: missingSince(finished, last),
    changes: null,
    ...(reasons.some((each) => each === 'empty' || each === 'shrunk')
      ? { lastSizes: await lastSizes(options) }
      : {}),
    ...(reasons.includes('shrunk') && minShare !== null ? { minShare } : {}),
    publishable,
    refused: [...refused, ...late],
    accepted,
    forced: force && (!publishable || isLate),
  };
}

/** Maximum number of earlier runs whose sizes are shown for a refused run. */
const MAX_SIZES = 10;

/**
 * The numbers of records of the last published runs, newest first. Runs that are damaged or being pruned are left out.
 */
async function lastSizes({ store, source, signal }: PublishOptions): Promise<number[]> {
  const sizes: number[] = [];
  for (const { run, manifest } of await publishedRuns(store, source, { signal })) {
    if (sizes.length === MAX_SIZES) break;
    const found = await manifestOf(store, manifest, { place: source, run }).catch(unlessDamaged());
    if (found !== undefined) sizes.push(found.records);
  }
  return sizes;
}

/** Stores the manifest, and moves `latest.json` to the run if no other publisher has moved it since it was read. */
async function moveLatest(
  { store, source, run, signal }: PublishOptions,
  manifest: Manifest,
  last: LastPublication,
): Promise<Publication | 'lost-race'> {
  const { latest: before, etag } = last;
  const candidates = before === undefined ? await manifestsAt(store, source) : [];
  const key = await storeManifest(store, source, run, printStored(manifest));
  // If it still had the tag of replaced runs, the newest run might expire.
  const wasReplaced = (before?.earlier ?? candidates).some((each) => runOfKey(each) === run.id);
  if (wasReplaced) await untagLatest({ store, place: source, run });
  let outcome = 'lost-race' as 'lost-race' | 'published';
  const decide = (found: StoredObject | undefined) => {
    const current = found === undefined ? undefined : latestIn(source, found);
    const isListed = current?.earlier.includes(key) === true;
    // The move may have succeeded even though its response was lost, and another run may have been published since
    // then.
    const isMoved = current?.manifest === key || (isListed && before !== undefined);
    const mayMove = found?.etag === etag || isOnlyPruned(current, before, run);
    outcome = isMoved || mayMove ? 'published' : 'lost-race';
    if (isMoved) return undefined;
    if (mayMove) return printStoredLine(latestAfter(current, candidates, { ...manifest, manifest: key }));
    // If latest.json had been lost, another publisher may have listed this run as one that may have been published.
    return isListed ? printStoredLine({ ...current, earlier: without(current.earlier, key) }) : undefined;
  };
  await updateObject(store, latestKey(source), decide, { signal });
  if (outcome === 'lost-race') {
    if (manifest.changes !== null) await store.delete(manifest.changes.key);
    return outcome;
  }
  // Another process may have set the tag just before latest.json moved.
  if (wasReplaced) await untagLatest({ store, place: source, run });
  return { kind: 'published', manifest, key };
}

const without = (keys: readonly string[], key: string) => keys.filter((each) => each !== key);

/**
 * The new content of `latest.json`. `current`: the present content; undefined if it is unreadable. `candidates`: in
 * that case, the manifests that may have been published before.
 */
function latestAfter(
  current: Latest | undefined,
  candidates: readonly string[],
  { run, manifest, startedAt, begunAfter }: Omit<Latest, 'earlier' | 'removed'>,
): Latest {
  const next = { run, manifest, startedAt };
  if (current !== undefined)
    return { ...next, begunAfter, earlier: [...current.earlier, current.manifest], removed: current.removed };
  const isFirst = candidates.length === 0;
  return { ...next, begunAfter: begunAfter ?? (isFirst ? null : ''), earlier: candidates, removed: [] };
}

/** Parses `latest.json`; undefined if it is damaged. */
function latestIn(place: Place, { body }: StoredObject): Latest | undefined {
  try {
    return parseStored(latestKey(place), body, latestSchema);
  } catch (error) {
    return unlessDamaged()(error);
  }
}

/**
 * Whether only a prune of other runs has changed `latest.json`: it still refers to the run that this one was compared
 * with.
 */
const isOnlyPruned = (there: Latest | undefined, before: Latest | undefined, run: Run): boolean =>
  there !== undefined && there.manifest === before?.manifest && !there.removed.includes(run.id);

/** The manifests of a place whose `latest.json` is lost or damaged: any of them may have been published. */
async function manifestsAt(store: Store, place: Place): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(`${place}/dt=`)) if (isManifestKey(key)) keys.push(key);
  // Sort by the starts of the runs. If a run has several manifests, the one without a token is the oldest, but it is
  // listed last; so reverse the list first.
  return keys.reverse().sort((a, b) => (runOfKey(a) ?? '').localeCompare(runOfKey(b) ?? ''));
}

/** Stores a manifest under a new key, `_manifest.json` or `_manifest-TOKEN.json`, and returns the key. */
async function storeManifest(store: Store, place: Place, run: Run, body: Uint8Array): Promise<string> {
  const folder = publishedFolder(place, run);
  const condition = { ifAbsent: true } as const;
  for (let name = MANIFEST_NAME; ; name = `_manifest-${newToken()}.json`) {
    const put = await store.put(`${folder}${name}`, body, { condition });
    if (put.kind === 'stored') return `${folder}${name}`;
  }
}

const newToken = () => randomBytes(4).toString('hex');

/** Reads a finished run that was not published, from its manifest under `work/`. Throws `StoredObjectError`. */
export async function readFinishedRun(store: Store, source: Place, run: string): Promise<FinishedRun> {
  const {
    publishable: _p,
    refused,
    accepted,
    forced: _f,
    changes: _c,
    lastSizes: _s,
    minShare: _l,
    ...found
  } = await manifestOf(store, `${workFolder(source, { id: run })}${MANIFEST_NAME}`, { place: source, run });
  const scanRefused = (['degraded', 'incomplete'] as const).filter((reason) =>
    [...refused, ...accepted].includes(reason),
  );
  return { ...found, scanRefused };
}
