import { createHash } from 'node:crypto';
import { printJson } from '../../../base/index.ts';
import type { StartExecution } from '../../../snapshot/durable/start-execution.ts';
import type { RunJob } from '../../turn.ts';
import { printExecutionInput } from './execution-input.ts';
import { followersOf } from './followers.ts';
import type { SnapshotJob } from './message.ts';

export type StartSnapshotOptions = {
  readonly start: StartExecution;
  /** The deployed stack's name: other stacks in the account may have jobs with the same ids. */
  readonly stack: string;
  /** The snapshots to take after one of all calculations has been published. */
  readonly followers: readonly SnapshotJob[];
};

/**
 * Starts a snapshot's durable execution, and returns `{started: NAME}`. That completes the job; the manifest reports
 * how the run ends. Starting the same job again uses the same name, so there is no second run.
 */
export function startSnapshotRunner({ start, stack, followers }: StartSnapshotOptions): RunJob<SnapshotJob> {
  return async (job, { signal, beforeSend, onLeave }) => {
    const name = executionName(job, stack);
    const input = printExecutionInput(job, followersOf(job, followers));
    await beforeSend();
    onLeave();
    await start({ name, input }, signal);
    return { status: 'done', response: printJson({ started: name }) };
  };
}

/** The name of a job's execution; neither a stack's name nor an id contains a slash. */
export function executionName({ source, id }: Pick<SnapshotJob, 'source' | 'id'>, stack: string): string {
  const hash = createHash('sha256').update(`${stack}/${id}`).digest('hex');
  return `${source}-${hash.slice(0, 40)}`;
}
