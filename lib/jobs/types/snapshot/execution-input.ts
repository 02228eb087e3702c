import { messageOf, parseJson, printJson } from '../../../base/index.ts';
import { SettingsError } from '../../../settings.ts';
import type { SnapshotAndFollowers } from '../../../snapshot/durable/durable-snapshot.ts';
import { linkedSource } from '../../../snapshot/sources/request.ts';
import { sourceDefinitions, sources } from '../../../snapshot/sources/sources.ts';
import { isObject, readJob } from '../../message/check-message.ts';
import { type SnapshotJob, snapshotChecks } from './message.ts';

class ExecutionInputError extends Error {
  override readonly name = 'ExecutionInputError';
  readonly faults: readonly string[];

  constructor(what: string, faults: readonly string[]) {
    super(messageOf(`${what}: ${faults.join('; ')}`));
    this.faults = faults;
  }
}

/** The input of a snapshot's execution: the checked job, and the jobs that follow it, since a replay must find the same ones. */
export const printExecutionInput = (job: SnapshotJob, followers: readonly SnapshotJob[]): string =>
  printJson(followers.length === 0 ? job : { ...job, followers });

export function parseExecutionInput(input: unknown): SnapshotAndFollowers {
  if (!isObject(input)) throw new ExecutionInputError('input', ['expected an object']);
  const { followers, ...job } = input;
  return {
    request: snapshotJobOf('input', job),
    followers: followers === undefined ? [] : snapshotJobsOf('followers', followers),
  };
}

/** The snapshot jobs in a list. Throws `ExecutionInputError` with a message that begins with `name`. */
function snapshotJobsOf(name: string, list: unknown): readonly SnapshotJob[] {
  if (!Array.isArray(list)) throw new ExecutionInputError(name, ['expected a list of snapshot jobs']);
  return list.map((each, index) => snapshotJobOf(`${name}[${index}]`, each));
}

function snapshotJobOf(name: string, value: unknown): SnapshotJob {
  if (!isObject(value)) throw new ExecutionInputError(name, ['expected an object']);
  const read = readJob(snapshotChecks, value, { messageId: '' });
  if (read.kind === 'refused') throw new ExecutionInputError(name, read.faults);
  return read.job;
}

/** SYNC_FOLLOWERS: `snapshot` messages that take their ids from another source. Throws `SettingsError`. */
export function readFollowers(text: string | undefined): readonly SnapshotJob[] {
  try {
    return text === undefined ? [] : followersIn(text);
  } catch (error) {
    throw error instanceof ExecutionInputError ? new SettingsError([error.message]) : error;
  }
}

function followersIn(text: string): readonly SnapshotJob[] {
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

/** The followers of a job: those that take their ids from its source, if it takes the whole source. */
export const followersOf = (job: SnapshotJob, followers: readonly SnapshotJob[]): readonly SnapshotJob[] =>
  job.as === undefined ? followers.filter((follower) => linkedSource(follower) === job.source) : [];
