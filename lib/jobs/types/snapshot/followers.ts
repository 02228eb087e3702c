import { parseJson } from '../../../json/json.ts';
import type { SnapshotJob } from '../../message/message.ts';
import { ExecutionInputError, snapshotJobsOf } from './execution-input.ts';

/**
 * Reads the setting SYNC_FOLLOWERS: a JSON list of `snapshot` messages of cards that name no datasets, and so take them
 * from the last published calculations. Throws `ExecutionInputError` with what is wrong.
 */
export function readFollowers(text: string | undefined): readonly SnapshotJob[] {
  if (text === undefined || text === '') return [];
  const followers = snapshotJobsOf('SYNC_FOLLOWERS', jsonOf(text));
  const faults = followers.flatMap((job, index) =>
    job.source === 'cards' && job.datasets === undefined
      ? []
      : [`[${index}]: expected cards without datasets, got ${job.source}`],
  );
  if (faults.length > 0) throw new ExecutionInputError('SYNC_FOLLOWERS', faults);
  return followers;
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new ExecutionInputError('SYNC_FOLLOWERS', [`expected JSON, got ${text.length} characters`]);
  }
}

/**
 * What follows a job: the followers, if it takes all calculations. Their own schedule would be a guess at how long the
 * calculations take; a narrowed snapshot of them is in a place of its own, from which no datasets are taken.
 */
export const followersOf = (job: SnapshotJob, followers: readonly SnapshotJob[]): readonly SnapshotJob[] =>
  job.source === 'calculations' && job.as === undefined ? followers : [];
