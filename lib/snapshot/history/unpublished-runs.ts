import { type Store, StoredObjectError } from '../../store/index.ts';
import { type Begun, newestFirst } from '../changes/newest-first.ts';
import { type PublishedRun, publishedRuns, runsBefore } from '../changes/published-runs.ts';
import { MANIFEST_NAME, type Place, workFolder } from '../keys.ts';
import { type Latest, type Manifest, manifestOf } from '../manifest.ts';
import { readLastPublication } from '../publish/last-publication.ts';
import { readCheckpoint } from '../run/checkpoint.ts';
import { runOfId } from '../run-id.ts';

/**
 * A run under `work/` that is not published. `unfinished`: stopped, or still being taken; it can be resumed. `refused`:
 * a gate refused it. `superseded`: a run that started later was published meanwhile. `damaged`: nobody can read how far
 * it came; `fault` says why, in words.
 */
export type UnpublishedRun = Begun &
  (
    | { readonly state: 'unfinished'; readonly records: number }
    | { readonly state: 'refused' | 'superseded'; readonly manifest: Manifest }
    | { readonly state: 'damaged'; readonly fault: string }
  );

export type UnpublishedOptions = {
  readonly store: Store;
  readonly place: Place;
  /** The names of the published runs. */
  readonly published: ReadonlySet<string>;
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
  for (const run of names.filter(isRun).sort().reverse()) {
    signal?.throwIfAborted();
    if (!published.has(run)) yield await readRun(run, options);
  }
}

/** The published runs of a place and those that are not, newest first (`newestFirst`). */
export async function allRuns({
  published,
  ...options
}: Omit<UnpublishedOptions, 'published'> & {
  readonly published: readonly (PublishedRun & Begun)[];
}): Promise<readonly (PublishedRun | UnpublishedRun)[]> {
  const names = new Set(published.map(({ run }) => run));
  const unpublished = await Array.fromAsync(unpublishedRuns({ ...options, published: names }));
  const found = new Map([...published, ...unpublished].map((each) => [each.run, each]));
  const order = newestFirst([...found.values()], options.latest?.run, (run) => names.has(run));
  return order.flatMap((run) => found.get(run) ?? []);
}

/** The newest run of a place that can be resumed; undefined if there is none. */
export async function lastStopped(store: Store, place: Place): Promise<string | undefined> {
  const { latest } = await readLastPublication(store, place);
  // If nobody knows what was published, a run that was is resumed, and stays published.
  const published = latest === undefined ? [] : await publishedRuns(store, place);
  const runs = await allRuns({ store, place, latest, published });
  return runs.find((each) => 'state' in each && each.state === 'unfinished')?.run;
}

const isRun = (name: string) => /^\d{8}T\d{6}Z-[0-9a-f]{6}$/.test(name);

async function readRun(run: string, { store, place, latest }: UnpublishedOptions): Promise<UnpublishedRun> {
  try {
    return (await readFinished(run, { store, place, latest })) ?? (await readStopped(run, { store, place }));
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    return { run, startedAt: runOfId(run).startedAt, after: [], state: 'damaged', fault: error.message };
  }
}

type Reading = Pick<UnpublishedOptions, 'store' | 'place' | 'latest'>;

/** Undefined if its publication has not begun. */
async function readFinished(
  run: string,
  { store, place, latest }: Reading,
): Promise<UnpublishedRun | undefined> {
  const key = `${workFolder(place, { id: run })}${MANIFEST_NAME}`;
  const manifest = await manifestOf(store, key, { place, run }).catch((error: unknown) => {
    if (error instanceof StoredObjectError && error.kind === 'missing') return undefined;
    throw error;
  });
  if (manifest === undefined) return undefined;
  const { startedAt, publishable, forced, records } = manifest;
  const begun = { run, startedAt, after: runsBefore(manifest) };
  if (!publishable && !forced) return { ...begun, state: 'refused', manifest };
  if (isPast(manifest, latest)) return { ...begun, state: 'superseded', manifest };
  return { ...begun, state: 'unfinished', records };
}

/** True if another run was published after this one began, and started later: publishing it takes force. */
const isPast = ({ startedAt, begunAfter }: Manifest, latest: Latest | undefined): boolean =>
  latest !== undefined && latest.run !== begunAfter && latest.startedAt >= startedAt;

async function readStopped(
  run: string,
  { store, place }: Pick<Reading, 'store' | 'place'>,
): Promise<UnpublishedRun> {
  const { startedAt, begunAfter, records } = (await readCheckpoint(store, place, run)).checkpoint;
  const after = runsBefore({ begunAfter });
  return { run, startedAt, after, state: 'unfinished', records };
}
