import type { Store } from '../../store/store.ts';
import { type Place, publishedFolder, sourceOf, workChangesKey, workFolder } from '../keys.ts';
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
 * Stores the parts of the manifest in the run's folder, put together as `composeParts` says, and compares them with the
 * last run. Returns the manifest with the published parts and the counts of changes; undefined if the slice is over. Throws
 * `StoredObjectError` if a part is missing, altered, or elsewhere than in the run's work folder.
 */
export async function storeRun(
  { store, source, run, isOver, signal, series }: RunToStore,
  manifest: Manifest,
  last: Manifest | undefined,
): Promise<Manifest | undefined> {
  checkPlaces(manifest.parts, workFolder(source, run));
  const work = `${workFolder(source, run)}publish/`;
  const stored = await publishParts({
    store,
    parts: manifest.parts,
    folder: publishedFolder(source, run),
    records: series === 1 ? work : `${work}series-${series}/`,
    series,
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
    key: workChangesKey(source, run, last.run),
    pieces: `${work}against-${last.run}/`,
    isOver,
    signal,
  });
  return counts && { ...manifest, parts, changes: { against: last.run, ...counts } };
}
