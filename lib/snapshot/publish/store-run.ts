import type { Store } from '../../store/index.ts';
import { changesKey, type Place, publishedFolder, sourceOf, workFolder } from '../keys.ts';
import type { Manifest } from '../manifest.ts';
import type { Run } from '../run-id.ts';
import { checkPlaces } from './check-parts.ts';
import { publishChanges } from './publish-changes.ts';
import { publishParts } from './publish-parts.ts';

export type RunToStore = {
  readonly store: Store;
  readonly source: Place;
  readonly run: Run;
  /** See `seriesOf`. */
  readonly series: number;
  /** Asked after each piece of work: true ends the slice. */
  readonly isOver: () => boolean;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Copies the parts of the manifest to the run's folder, and compares them with the last run. Returns the manifest with the published parts and the counts of changes; undefined if the slice
 * is over. Throws `StoredObjectError` if a part is missing, altered, or elsewhere than in the run's work folder.
 */
export async function storeRun(
  options: RunToStore,
  manifest: Manifest,
  last: Manifest | undefined,
): Promise<Manifest | undefined> {
  const { store, source, run, isOver, signal, series } = options;
  checkPlaces(manifest.parts, workFolder(source, run));
  const work = `${workFolder(source, run)}publish/`;
  const folder = publishedFolder(source, run);
  const copied = await publishParts({ store, parts: manifest.parts, folder, series, isOver });
  if (copied === undefined) return undefined;
  const parts = [...copied];
  const published = { ...manifest, parts };
  if (last === undefined) return published;
  const key = changesKey(source, run, last.run, series);
  const counts = await publishChanges({
    store,
    source: sourceOf(source),
    before: last,
    after: { parts },
    key,
    pieces: `${work}against-${last.run}/`,
    isOver,
    signal,
  });
  return counts && { ...published, changes: { against: last.run, ...counts, key } };
}
