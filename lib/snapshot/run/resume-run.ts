import { type Store, StoredObjectError } from '../../store/index.ts';
import { lastStopped } from '../history/runs.ts';
import { type Place, placeOf, sourceOf } from '../keys.ts';
import { placesIn, publishedRuns } from '../manifest.ts';
import { checkPlatform } from '../publish/gates.ts';
import type { Publication } from '../publish/publish.ts';
import { readLastPublication } from '../publish/publish-parts.ts';
import type { Source } from '../sources/sources.ts';
import { hasCheckpoint, readCheckpoint } from './checkpoint.ts';
import type { Saved } from './take-run.ts';

/** Finds a run to resume, and its place. `run` is undefined if there is no run that can be resumed. */
export async function findStopped(options: {
  readonly store: Store;
  readonly source: Source;
  /** The name of its place. Default: any place of the source; if several have such a run, the newest run is taken. */
  readonly as: string | undefined;
  /** The run as the user typed it: its name, or `last` for the newest run that can be resumed. */
  readonly run: string;
}): Promise<{ readonly place: Place; readonly run: string | undefined }> {
  const { store, source, as, run: typed } = options;
  const nameIn = async (place: Place) => (typed === 'last' ? await lastStopped(store, place) : typed);
  const found: { readonly place: Place; readonly run: string }[] = [];
  for (const place of as === undefined ? await placesIn(store) : []) {
    const run = sourceOf(place) === source ? await nameIn(place) : undefined;
    if (run !== undefined && (await hasCheckpoint(store, place, run))) found.push({ place, run });
  }
  const [newest] = found.sort((a, b) => (a.run < b.run ? 1 : -1));
  const own = placeOf(source, as);
  return newest ?? { place: own, run: await nameIn(own) };
}

/**
 * Reads a run to resume: its checkpoint, or its publication if it was published, because a folder keeps no checkpoint
 * once a run is published. Throws `OtherPlatformError`, and `StoredObjectError` if the run is missing or damaged.
 */
export async function resumeRun(options: {
  readonly store: Store;
  readonly place: Place;
  readonly run: string;
  /** The host of the platform that will be called. */
  readonly platform: string;
}): Promise<Saved | Publication> {
  const { store, place, run, platform } = options;
  const isOpen = await hasCheckpoint(store, place, run);
  const published = isOpen ? undefined : await findPublished(store, place, run);
  if (published !== undefined) return published;
  const saved = await readCheckpoint(store, place, run);
  checkPlatform(saved.checkpoint, platform);
  return saved;
}

/**
 * The publication of a run that has no checkpoint; undefined if the run is not published, or is damaged. Throws
 * `StoredObjectError` if another run has been published since then.
 */
export async function findPublished(
  store: Store,
  place: Place,
  run: string,
): Promise<Publication | undefined> {
  const { latest, manifest, broken } = await readLastPublication(store, place);
  if (latest === undefined) return undefined;
  if (latest.run === run)
    return manifest && broken === undefined
      ? { kind: 'published', key: latest.manifest, manifest }
      : undefined;
  const isKnown = (await publishedRuns(store, place)).some((each) => each.run === run);
  if (!isKnown) return undefined;
  const since = `run ${latest.run} has been published since then`;
  const gone = 'its checkpoint no longer exists, so it cannot be published again';
  throw new StoredObjectError('missing', `run ${run} of ${place} was published, ${since}, and ${gone}`);
}
