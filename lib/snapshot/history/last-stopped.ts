import type { Store } from '../../store/store.ts';
import { publishedRuns } from '../changes/published-runs.ts';
import type { Place } from '../keys.ts';
import { readLastPublication } from '../publish/last-publication.ts';
import { type UnpublishedRun, unpublishedRuns } from './unpublished-runs.ts';

/** The newest run of a place that can be resumed; undefined if there is none. */
export async function lastStopped(store: Store, place: Place): Promise<string | undefined> {
  const { latest } = await readLastPublication(store, place);
  // If nobody knows what was published, a run that was is resumed, and stays published.
  const runs = latest === undefined ? [] : await publishedRuns(store, place);
  const published = new Set(runs.map(({ run }) => run));
  let last: UnpublishedRun | undefined;
  for await (const found of unpublishedRuns({ store, place, published, latest })) {
    // Names sort by the second in which a run started.
    if (last !== undefined && secondOf(found) !== secondOf(last)) break;
    if (found.state === 'unfinished' && !(last !== undefined && last.startedAt > found.startedAt))
      last = found;
  }
  return last?.run;
}

const secondOf = ({ run }: UnpublishedRun) => run.split('-', 1)[0];
