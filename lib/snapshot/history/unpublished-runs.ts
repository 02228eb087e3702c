import { type Store, StoredObjectError } from '../../store/index.ts';
import { type PublishedRun, publishedRuns } from '../changes/published-runs.ts';
import { isRunId, MANIFEST_NAME, type Place, workFolder } from '../keys.ts';
import { type Latest, type Manifest, manifestOf } from '../manifest.ts';
import { isSuperseded } from '../publish/gates.ts';
import { readLastPublication } from '../publish/publish-parts.ts';
import { refusalWords } from '../publish/refusal-words.ts';
import { readCheckpoint } from '../run/checkpoint.ts';
import { runOfId } from '../run-id.ts';

/** A run under `work/` that is not published. `unfinished`: it can be resumed. `damaged`: nobody can read how far it came. */
export type UnpublishedRun = { readonly run: string; readonly startedAt: string } & (
  | { readonly state: 'unfinished'; readonly records: number }
  | { readonly state: 'refused' | 'superseded'; readonly manifest: Manifest }
  | { readonly state: 'damaged'; readonly fault: string }
);

type UnpublishedOptions = {
  readonly store: Store;
  readonly place: Place;
  readonly published: readonly PublishedRun[];
  /** What `latest.json` says, if it can be read. */
  readonly latest: Latest | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The runs of a place that are not published, newest first by their names. Reads each when it is asked for. */
export async function* unpublishedRuns(options: UnpublishedOptions): AsyncGenerator<UnpublishedRun> {
  const { store, place, published, signal } = options;
  const folder = `work/${place}/`;
  const names: string[] = [];
  for await (const key of store.folders(folder)) names.push(key.slice(folder.length));
  const isPublished = new Set(published.map(({ run }) => run));
  for (const run of names.filter(isRunId).sort().reverse()) {
    signal?.throwIfAborted();
    if (!isPublished.has(run)) yield await readRun(run, options);
  }
}

/** All runs of a place, newest first, but for the last published one: it comes before all others that are published. */
export async function allRuns(
  options: UnpublishedOptions,
): Promise<readonly (PublishedRun | UnpublishedRun)[]> {
  const [last, ...earlier] = options.published;
  const unpublished = await Array.fromAsync(unpublishedRuns(options));
  if (last === undefined) return unpublished;
  const isNewer = ({ run }: UnpublishedRun) => run > last.run;
  const older = [...earlier, ...unpublished.filter((each) => !isNewer(each))];
  return [...unpublished.filter(isNewer), last, ...older.sort((a, b) => (a.run < b.run ? 1 : -1))];
}

/** Why the newest run of a place was refused, in words; undefined if it was not, or was published. */
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

/** The newest run of a place that can be resumed; undefined if there is none. */
export async function lastStopped(store: Store, place: Place): Promise<string | undefined> {
  const { latest } = await readLastPublication(store, place);
  // If nobody knows what was published, a run that was is resumed, and stays published.
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

/** Undefined if its publication has not begun. */
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
