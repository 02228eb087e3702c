import * as z from 'zod/mini';
import type { Store } from '../../store/store.ts';
import { findStored, MOST_LIST_BYTES, StoredObjectError } from '../../store/stored-json.ts';
import { isManifestKey, type Place } from '../keys.ts';
import { type Latest, readLatest } from '../manifest.ts';

/** A published run: its name and the key of its manifest. */
export type PublishedRun = { readonly run: string; readonly manifest: string };

/**
 * The published runs of a place, newest first; none before the first publication. A run is published once `latest.json`
 * has been moved to it or past it. Any other run in the folder that did not start before the one named now is either
 * being published or was left by a publisher that was killed, so it is left out. Throws `StoredObjectError` if
 * `latest.json` is damaged.
 */
export async function publishedRuns(
  store: Store,
  place: Place,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<readonly PublishedRun[]> {
  const latest = await readLatest(store, place);
  if (latest === undefined) return [];
  // The manifest that is named wins; of others that a run may have, the first: the one that replaced a killed publisher's.
  const runs = new Map([[latest.run, { run: latest.run, manifest: latest.manifest }]]);
  for await (const { key } of store.list(`${place}/`, signal === undefined ? {} : { signal })) {
    const run = runOf(key.slice(place.length + 1));
    if (run === undefined || runs.has(run)) continue;
    if (await isPublished(store, { run, manifest: key }, latest)) runs.set(run, { run, manifest: key });
  }
  return [...runs.values()].sort((a, b) => newestFirst(a, b, latest));
}

/** The run of a manifest, by its key relative to the place; undefined for any other object. */
function runOf(key: string): string | undefined {
  const [, run, name] = /^dt=[^/]+\/run=([^/]+)\/([^/]+)$/.exec(key) ?? [];
  return name !== undefined && isManifestKey(name) ? run : undefined;
}

/** The second in which a run started. Its name begins with it, and so sorts by it. */
const second = (run: string): string => run.split('-', 1)[0] ?? '';

const startSchema = z.object({ startedAt: z.string() });

async function isPublished(store: Store, { run, manifest }: PublishedRun, latest: Latest): Promise<boolean> {
  if (second(run) !== second(latest.run)) return second(run) < second(latest.run);
  // Names end in random digits: within a second only the manifest shows which run started first.
  try {
    const stored = await findStored(store, manifest, startSchema, MOST_LIST_BYTES);
    return stored !== undefined && stored.value.startedAt < latest.startedAt;
  } catch (error) {
    // A damaged manifest must not hide the other runs: whoever reads it names it.
    if (error instanceof StoredObjectError) return true;
    throw error;
  }
}

function newestFirst(a: PublishedRun, b: PublishedRun, latest: Latest): number {
  // Within its second the latest comes first, whatever its name.
  if (a.run === latest.run) return -1;
  if (b.run === latest.run) return 1;
  return a.run < b.run ? 1 : -1;
}
