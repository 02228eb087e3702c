import { type Store, StoredObjectError } from '../../store/index.ts';
import { isRunId, MANIFEST_NAME, type Place, runOfId, splitPlace, workFolder } from '../keys.ts';
import {
  type Latest,
  type Manifest,
  manifestOf,
  type PublishedRun,
  placesIn,
  publishedRuns,
  readAgain,
} from '../manifest.ts';
import { isSuperseded, refusalWords } from '../publish/gates.ts';
import { readLastPublication } from '../publish/publish-parts.ts';
import { readCheckpoint } from '../run/checkpoint.ts';
import { sources } from '../sources/sources.ts';

/** A run as `runs --json` prints it. A value is null if it is unknown or does not apply. */
export type ListedRun = {
  readonly source: Place;
  readonly run: string;
  readonly state: 'published' | UnpublishedRun['state'];
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly durationMs: number | null;
  readonly records: number | null;
  /** The run that this run was compared with; null for a first run. */
  readonly against: string | null;
  readonly added: number | null;
  readonly removed: number | null;
  readonly changed: number | null;
  readonly consistency: Manifest['consistency'] | null;
  /** The number of pages that kept reporting that they may lack rows. */
  readonly degradedPages: number | null;
  readonly forced: boolean;
  readonly refused: readonly string[];
  /** What is missing or damaged in the run, in words. */
  readonly fault: string | null;
};

type RunsToList = {
  readonly store: Store;
  /** The place; undefined: every source's own place, or with `all` every place. */
  readonly place: Place | undefined;
  /** Whether to include runs that are not published. */
  readonly all: boolean;
  /** Maximum runs of each place. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
};

/** The listed runs. `broken`: what is missing or damaged, in words; `left`: the number of runs beyond the limit. */
type FoundRuns = {
  readonly listed: readonly ListedRun[];
  readonly broken: readonly string[];
  readonly left: number;
};

/**
 * Lists the runs of each place, newest first. If an object of a run is missing or damaged, that is reported, and the
 * other runs are still listed.
 */
export const findRuns = (options: RunsToList): Promise<FoundRuns> =>
  readAgain(
    () => findOnce(options),
    ({ broken }) => broken,
  );

async function findOnce({ store, place, all, limit, signal }: RunsToList): Promise<FoundRuns> {
  const places = place !== undefined ? [place] : all ? await placesIn(store) : sources;
  const [listed, broken]: [ListedRun[], string[]] = [[], []];
  let left = 0;
  for (const each of places) {
    const last = await readLastPublication(store, each);
    if (last.broken !== undefined) broken.push(`${each}: ${last.broken}; ${repairHint(each)}`);
    // Without `latest.json` it is unknown which runs were published.
    const published = last.latest === undefined ? [] : await publishedRuns(store, each, { signal });
    const { latest } = last;
    const runs = all ? await allRuns({ store, place: each, latest, published, signal }) : published;
    left += Math.max(0, runs.length - limit);
    for (const run of runs.slice(0, limit)) {
      signal?.throwIfAborted();
      const found = 'state' in run ? listUnpublished(each, run) : await listPublished(store, each, run);
      listed.push(found);
      // The fault of the last published run was reported above.
      if (found.fault !== null && found.run !== last.latest?.run)
        broken.push(`${each}: ${found.fault}; no other run is affected`);
    }
  }
  return { listed, broken, left };
}

/** How to publish a place again if its last run is missing or damaged. */
function repairHint(place: Place): string {
  const { source, name } = splitPlace(place);
  const as = name === undefined ? '' : ` --as ${name}`;
  return `to publish a new run without comparing: platform-sync snapshot ${source}${as} … --force, or platform-sync publish ${place} RUN --force`;
}

async function listPublished(
  store: Store,
  source: Place,
  { run, manifest }: PublishedRun,
): Promise<ListedRun> {
  try {
    const found = await manifestOf(store, manifest, { place: source, run });
    return { ...listManifest(source, found), state: 'published' };
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    const { startedAt } = runOfId(run);
    return { ...UNKNOWN, source, run, startedAt, state: 'published', fault: error.message };
  }
}

function listUnpublished(source: Place, found: UnpublishedRun): ListedRun {
  const { run, startedAt, state } = found;
  if ('manifest' in found) return { ...listManifest(source, found.manifest), state };
  const known = 'fault' in found ? { fault: found.fault } : { records: found.records };
  return { ...UNKNOWN, source, run, startedAt, state, ...known };
}

function listManifest(source: Place, manifest: Manifest): Omit<ListedRun, 'state'> {
  const { run, startedAt, finishedAt, records, changes, consistency, forced, refused } = manifest;
  const { degradedPages = 0 } = manifest;
  const { against = null, added = null, removed = null, changed = null } = changes ?? {};
  const durationMs = Date.parse(finishedAt) - Date.parse(startedAt);
  return {
    source,
    run,
    startedAt,
    finishedAt,
    durationMs,
    records,
    against,
    added,
    removed,
    changed,
    consistency,
    degradedPages,
    forced,
    refused,
    fault: null,
  };
}

/** The values of a run whose manifest cannot be read. */
const UNKNOWN = {
  finishedAt: null,
  durationMs: null,
  records: null,
  against: null,
  added: null,
  removed: null,
  changed: null,
  consistency: null,
  degradedPages: null,
  forced: false,
  refused: [],
  fault: null,
} as const;

/**
 * A run under `work/` that is not published. `unfinished`: it can be resumed. `damaged`: its progress cannot be read.
 */
type UnpublishedRun = { readonly run: string; readonly startedAt: string } & (
  | { readonly state: 'unfinished'; readonly records: number }
  | { readonly state: 'refused' | 'superseded'; readonly manifest: Manifest }
  | { readonly state: 'damaged'; readonly fault: string }
);

type UnpublishedOptions = {
  readonly store: Store;
  readonly place: Place;
  readonly published: readonly PublishedRun[];
  /** The parsed `latest.json`; undefined if unreadable. */
  readonly latest: Latest | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The unpublished runs of a place, newest first by their names. A run is read only when the caller asks for the next
 * one.
 */
export async function* unpublishedRuns(options: UnpublishedOptions): AsyncGenerator<UnpublishedRun> {
  const { store, place, published, signal } = options;
  const folder = `work/${place}/`;
  const names: string[] = [];
  for await (const key of store.folders(folder)) names.push(key.slice(folder.length));
  const publishedIds = new Set(published.map(({ run }) => run));
  for (const run of names.filter(isRunId).sort().reverse()) {
    signal?.throwIfAborted();
    if (!publishedIds.has(run)) yield await readRun(run, options);
  }
}

/** All runs of a place, published or not, newest first. */
async function allRuns(options: UnpublishedOptions): Promise<readonly (PublishedRun | UnpublishedRun)[]> {
  const [last, ...earlier] = options.published;
  const unpublished = await Array.fromAsync(unpublishedRuns(options));
  if (last === undefined) return unpublished;
  const isNewer = ({ run }: UnpublishedRun) => run > last.run;
  const older = [...earlier, ...unpublished.filter((each) => !isNewer(each))];
  return [...unpublished.filter(isNewer), last, ...older.sort((a, b) => (a.run < b.run ? 1 : -1))];
}

/** Why the newest run of a place was refused, in words; undefined if it was not refused, or was published. */
export async function newestRefused(
  options: UnpublishedOptions,
): Promise<{ readonly run: string; readonly reasons: readonly string[] } | undefined> {
  const last = options.published[0]?.run ?? '';
  for await (const found of unpublishedRuns(options)) {
    const { run, state } = found;
    return run > last && state === 'refused' ? { run, reasons: refusalWords(found.manifest) } : undefined;
  }
  return undefined;
}

/** The newest run of a place that can be resumed; undefined if no run can. */
export async function lastStopped(store: Store, place: Place): Promise<string | undefined> {
  const { latest } = await readLastPublication(store, place);
  // If it is unknown which runs were published, this may be a published one. Resuming it does no harm.
  const published = latest === undefined ? [] : await publishedRuns(store, place);
  for await (const { run, state } of unpublishedRuns({ store, place, latest, published }))
    if (state === 'unfinished') return run;
  return undefined;
}

async function readRun(run: string, options: UnpublishedOptions): Promise<UnpublishedRun> {
  try {
    return (await readFinished(run, options)) ?? (await readStopped(run, options));
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    return { run, startedAt: runOfId(run).startedAt, state: 'damaged', fault: error.message };
  }
}

/** Reads a finished run; undefined if its publication has not begun. */
async function readFinished(
  run: string,
  { store, place, latest }: UnpublishedOptions,
): Promise<UnpublishedRun | undefined> {
  const key = `${workFolder(place, { id: run })}${MANIFEST_NAME}`;
  const manifest = await manifestOf(store, key, { place, run }).catch((error: unknown) => {
    if (error instanceof StoredObjectError && error.kind === 'missing') return undefined;
    throw error;
  });
  if (manifest === undefined) return undefined;
  const { startedAt, publishable, forced, records } = manifest;
  const begun = { run, startedAt };
  if (!publishable && !forced) return { ...begun, state: 'refused', manifest };
  if (latest !== undefined && isSuperseded(manifest, latest))
    return { ...begun, state: 'superseded', manifest };
  return { ...begun, state: 'unfinished', records };
}

async function readStopped(run: string, { store, place }: UnpublishedOptions): Promise<UnpublishedRun> {
  const { startedAt, records } = (await readCheckpoint(store, place, run)).checkpoint;
  return { run, startedAt, state: 'unfinished', records };
}
