import { createHash } from 'node:crypto';
import { once, printJson, sleep } from '../../../base/index.ts';
import type { Session } from '../../../session.ts';
import type { StartExecution } from '../../../snapshot/durable/start-execution.ts';
import type { JobStorage } from '../../job-storage.ts';
import type { RunJob } from '../../turn.ts';
import { followersOf, printExecutionInput, readFollowers } from './execution-input.ts';
import type { SnapshotJob } from './message.ts';

/** Starts durable executions if there is a function for them. Throws `SettingsError` for SYNC_FOLLOWERS. */
export async function openSnapshots(
  session: Session,
  { store, host }: Pick<JobStorage, 'store' | 'host'>,
): Promise<RunJob<SnapshotJob>> {
  const { settings, call, logger, environment, callCounts, paceCounts } = session;
  const { SYNC_SNAPSHOT_FUNCTION: functionName, SYNC_STACK: stack, SYNC_FOLLOWERS } = settings;
  const followers = readFollowers(SYNC_FOLLOWERS);
  if (functionName !== undefined) {
    // The SDK is loaded with the first execution.
    const start = once(async () => {
      const { lambdaExecutions } = await import('../../../snapshot/durable/start-execution.ts');
      return lambdaExecutions({ functionName, environment });
    });
    return startSnapshotRunner({ start: async (...given) => (await start())(...given), stack, followers });
  }
  // A deployed worker does not load it.
  const { snapshotRunner } = await import('./runner-here.ts');
  return snapshotRunner({
    now: Date.now,
    random: Math.random,
    sleep,
    call,
    store,
    host,
    compression: settings.SYNC_COMPRESSION,
    partMs: settings.SYNC_PART_SECONDS * 1_000,
    callCounts,
    paceCounts,
    warn: (what, err) => logger.warn({ what, err }, 'published with a fault'),
  });
}

export type StartSnapshotOptions = {
  readonly start: StartExecution;
  /** The deployed stack's name: other stacks in the account may have jobs with the same ids. */
  readonly stack: string;
  /** The snapshots to take after one of all calculations has been published. */
  readonly followers: readonly SnapshotJob[];
};

/** Starts a snapshot's durable execution, and returns `{started: NAME}`. The same job again has the same name. */
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

/** Neither a stack's name nor an id contains a slash. */
export function executionName({ source, id }: Pick<SnapshotJob, 'source' | 'id'>, stack: string): string {
  const hash = createHash('sha256').update(`${stack}/${id}`).digest('hex');
  return `${source}-${hash.slice(0, 40)}`;
}
