import { once } from '../../../base/index.ts';
import type { Session } from '../../../session.ts';
import type { StartExecution } from '../../../snapshot/durable/start-execution.ts';
import type { RunJob } from '../../turn.ts';
import { readFollowers } from './followers.ts';
import type { SnapshotJob } from './message.ts';
import type { SnapshotStorage } from './open-runner-here.ts';
import { startSnapshotRunner } from './start-snapshot.ts';

/**
 * The runner of snapshots: it starts durable executions if there is a function for them, and otherwise takes snapshots
 * in this process. Throws `ExecutionInputError` if SYNC_FOLLOWERS is invalid.
 */
export async function openSnapshots(
  session: Session,
  storage: SnapshotStorage,
): Promise<RunJob<SnapshotJob>> {
  const { SYNC_SNAPSHOT_FUNCTION: functionName, SYNC_STACK: stack, SYNC_FOLLOWERS } = session.settings;
  const followers = readFollowers(SYNC_FOLLOWERS);
  if (functionName !== undefined)
    return startSnapshotRunner({ start: lazyStart(functionName, session), stack, followers });
  const { openRunnerHere } = await import('./open-runner-here.ts');
  return openRunnerHere(session, storage);
}

/** The SDK is loaded with the first execution. */
function lazyStart(functionName: string, { environment }: Session): StartExecution {
  const start = once(async () => {
    const { lambdaExecutions } = await import('../../../snapshot/durable/start-execution.ts');
    return lambdaExecutions({ functionName, environment });
  });
  return async (...execution) => (await start())(...execution);
}
