import type { Store } from '../../store/index.ts';
import { findPublished } from '../history/find-published.ts';
import { placesIn } from '../history/places.ts';
import { lastStopped } from '../history/unpublished-runs.ts';
import { type Place, placeOf, sourceOf } from '../keys.ts';
import type { Publication } from '../publish/publish.ts';
import { checkPlatform } from '../same-platform.ts';
import type { Source } from '../sources/sources.ts';
import { hasCheckpoint, readCheckpoint } from './checkpoint.ts';
import type { Saved } from './take-slice.ts';

type RunToFind = {
  readonly store: Store;
  readonly source: Source;
  /** The name of its place. Default: the source's own place, or one that was named after the selection of a narrowed run. */
  readonly as: string | undefined;
  /** The name of the run, or `last`: the newest that can be resumed. */
  readonly run: string;
};

/** The place of a run to resume, and its name: undefined if there is none. */
export async function findStopped({
  store,
  source,
  as,
  run: typed,
}: RunToFind): Promise<{ readonly place: Place; readonly run: string | undefined }> {
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

type RunToResume = {
  readonly store: Store;
  readonly place: Place;
  readonly run: string;
  /** The host that the records come from. */
  readonly platform: string;
};

/**
 * How far a run came, or its publication if it ended: one that was published leaves no checkpoint in a directory. Throws
 * `OtherPlatformError`, and `StoredObjectError` if it is missing or damaged.
 */
export async function resumeRun({ store, place, run, platform }: RunToResume): Promise<Saved | Publication> {
  const isOpen = await hasCheckpoint(store, place, run);
  const published = isOpen ? undefined : await findPublished(store, place, run);
  if (published !== undefined) return published;
  const saved = await readCheckpoint(store, place, run);
  checkPlatform(saved.checkpoint, platform);
  return saved;
}
