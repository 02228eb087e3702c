import type { Store } from '../../store/store.ts';
import { MANIFEST_NAME, type Place } from '../keys.ts';
import { type Latest, readLatest } from '../manifest.ts';

/** A run that was published: its name and the key of its manifest. */
export type PublishedRun = { readonly run: string; readonly manifest: string };

/**
 * The published runs of a place, newest first; none before the first publication. What lies there and started after
 * the run that `latest.json` names is on its way, or was left by a publisher that was killed: it is left out.
 */
export async function publishedRuns(
  store: Store,
  place: Place,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<readonly PublishedRun[]> {
  const latest = await readLatest(store, place);
  if (latest === undefined) return [];
  const runs: PublishedRun[] = [];
  for await (const { key } of store.list(`${place}/`, signal === undefined ? {} : { signal })) {
    const run = runOf(key.slice(place.length + 1));
    if (run !== undefined && startedBy(run, latest)) runs.push({ run, manifest: key });
  }
  return runs.sort((a, b) => newestFirst(a, b, latest));
}

/** The run of a manifest's key below its place. */
const runOf = (key: string): string | undefined => {
  const [, run, name] = /^dt=[^/]+\/run=([^/]+)\/([^/]+)$/.exec(key) ?? [];
  return name === MANIFEST_NAME ? run : undefined;
};

/** A run's name begins with the second in which it started, and sorts by it. */
const second = (run: string): string => run.split('-', 1)[0] ?? '';

const startedBy = (run: string, latest: Latest): boolean => second(run) <= second(latest.run);

function newestFirst(a: PublishedRun, b: PublishedRun, latest: Latest): number {
  // Within its second the latest comes first, whatever its name.
  if (a.run === latest.run) return -1;
  if (b.run === latest.run) return 1;
  return a.run < b.run ? 1 : -1;
}
