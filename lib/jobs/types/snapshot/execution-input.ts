import { messageOf, printJson } from '../../../base/index.ts';
import type { SnapshotAndFollowers } from '../../../snapshot/durable/durable-snapshot.ts';
import { isObject } from '../../message/fields.ts';
import { readJob } from '../../message/read-job.ts';
import { type SnapshotJob, snapshotChecks } from './message.ts';

/** The input of a durable execution is invalid; every fault is listed. */
export class ExecutionInputError extends Error {
  override readonly name = 'ExecutionInputError';
  readonly faults: readonly string[];

  constructor(what: string, faults: readonly string[]) {
    super(messageOf(`${what}: ${faults.join('; ')}`));
    this.faults = faults;
  }
}

/**
 * The input of a snapshot's execution: the checked job, and under `followers` the jobs that follow it. They are part of
 * the input, and not read from the function's environment, because a replay must find the same ones.
 */
export const printExecutionInput = (job: SnapshotJob, followers: readonly SnapshotJob[]): string =>
  printJson(followers.length === 0 ? job : { ...job, followers });

/** The snapshot that an execution takes, and its followers. Throws `ExecutionInputError`. */
export function parseExecutionInput(input: unknown): SnapshotAndFollowers {
  if (!isObject(input)) throw new ExecutionInputError('input', ['expected an object']);
  const { followers, ...job } = input;
  return {
    request: snapshotJobOf('input', job),
    followers: followers === undefined ? [] : snapshotJobsOf('followers', followers),
  };
}

/** The snapshot jobs in a list. Throws `ExecutionInputError` with a message that begins with `name`. */
export function snapshotJobsOf(name: string, list: unknown): readonly SnapshotJob[] {
  if (!Array.isArray(list)) throw new ExecutionInputError(name, ['expected a list of snapshot jobs']);
  return list.map((each, index) => snapshotJobOf(`${name}[${index}]`, each));
}

function snapshotJobOf(name: string, value: unknown): SnapshotJob {
  if (!isObject(value)) throw new ExecutionInputError(name, ['expected an object']);
  const read = readJob(snapshotChecks, value, { messageId: '' });
  if (read.kind === 'refused') throw new ExecutionInputError(name, read.faults);
  return read.job;
}
