import { parseJson } from '../../../base/index.ts';
import { linkedSource } from '../../../snapshot/sources/request.ts';
import { sourceDefinitions, sources } from '../../../snapshot/sources/sources.ts';
import { ExecutionInputError, snapshotJobsOf } from './execution-input.ts';
import type { SnapshotJob } from './message.ts';

/**
 * Parses the setting SYNC_FOLLOWERS: a JSON list of `snapshot` messages that name no ids, and so take them from the
 * last published run of another source: cards without datasets. Throws `ExecutionInputError` with all faults.
 */
export function readFollowers(text: string | undefined): readonly SnapshotJob[] {
  if (text === undefined || text === '') return [];
  const followers = snapshotJobsOf('SYNC_FOLLOWERS', jsonOf(text));
  const faults = followers.flatMap((job, index) =>
    linkedSource(job) === undefined ? [`[${index}]: expected ${MAY_FOLLOW}, got ${job.source}`] : [],
  );
  if (faults.length > 0) throw new ExecutionInputError('SYNC_FOLLOWERS', faults);
  return followers;
}

/** Reads `cards without datasets`. */
const MAY_FOLLOW = sources
  .flatMap((source) => {
    const { ids } = sourceDefinitions[source];
    return ids?.linked === undefined ? [] : [`${source} without ${ids.field}`];
  })
  .join(' or ');

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new ExecutionInputError('SYNC_FOLLOWERS', [`expected JSON, got ${text.length} characters`]);
  }
}

/**
 * The followers of a job: those that take their ids from its source, if it takes the whole source. Separate schedules
 * would have to guess how long it takes. A narrowed snapshot has a place of its own, from which no ids are taken.
 */
export const followersOf = (job: SnapshotJob, followers: readonly SnapshotJob[]): readonly SnapshotJob[] =>
  job.as === undefined ? followers.filter((follower) => linkedSource(follower) === job.source) : [];
