import type { Store } from '../../store/index.ts';
import { publishedRuns } from '../changes/published-runs.ts';
import type { Place } from '../keys.ts';
import { readLastPublication } from '../publish/last-publication.ts';
import { allRuns } from './unpublished-runs.ts';

/** The newest run of a place that can be resumed; undefined if there is none. */
export async function lastStopped(store: Store, place: Place): Promise<string | undefined> {
  const { latest } = await readLastPublication(store, place);
  // If nobody knows what was published, a run that was is resumed, and stays published.
  const published = latest === undefined ? [] : await publishedRuns(store, place);
  const runs = await allRuns({ store, place, latest, published });
  return runs.find((each) => 'state' in each && each.state === 'unfinished')?.run;
}
