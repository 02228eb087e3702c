import { type Store, StoredObjectError } from '../../store/index.ts';
import { publishedRuns } from '../changes/published-runs.ts';
import type { Place } from '../keys.ts';
import type { Publication } from '../publish/publish.ts';
import { readLastPublication } from '../publish/publish-parts.ts';

/**
 * The publication of a run of which nothing is left under `work/`: undefined if it is not published, or damaged. Throws
 * `StoredObjectError` if another run has been published since.
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
  const since = `run ${latest.run} has been published since`;
  const gone = 'what it takes to publish it again is gone';
  throw new StoredObjectError('missing', `run ${run} of ${place} was published, ${since}, and ${gone}`);
}
