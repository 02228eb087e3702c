import { once } from '../../../once.ts';
import type { Session } from '../../../session.ts';
import type { StartExecution } from '../../../snapshot/durable/start-execution.ts';
import { openPartitions } from '../../../snapshot/publish/open-partitions.ts';
import type { Store } from '../../../store/store.ts';
import { sleep } from '../../../time/sleep.ts';
import type { RunJob } from '../../turn.ts';
import { readFollowers } from './followers.ts';
import type { SnapshotJob } from './message.ts';
import { snapshotRunner } from './runner.ts';
import { startSnapshotRunner } from './start-snapshot.ts';

/**
 * The runner of snapshots: it starts durable executions if there is a function for them, and otherwise takes snapshots
 * in this process. Throws `ExecutionInputError` if SYNC_FOLLOWERS is invalid.
 */
export function openSnapshots(
  session: Session,
  { store, host }: { readonly store: Store; readonly host: string },
): RunJob<SnapshotJob> {
  const { settings, environment, callCounts, paceCounts } = session;
  const { SYNC_SNAPSHOT_FUNCTION: functionName, SYNC_STACK: stack, SYNC_FOLLOWERS } = settings;
  const followers = readFollowers(SYNC_FOLLOWERS);
  if (functionName !== undefined)
    return startSnapshotRunner({ start: lazyStart(functionName, session), stack, followers });
  return snapshotRunner({
    now: Date.now,
    random: Math.random,
    sleep,
    call: session.platform.call,
    store,
    host,
    compression: settings.SYNC_COMPRESSION,
    partMs: settings.SYNC_PART_SECONDS * 1_000,
    callCounts,
    paceCounts,
    partitions: openPartitions({ database: settings.SYNC_GLUE_DATABASE, store, environment }),
    warn: (what, err) => session.logger.warn({ what, err }, 'published with a fault'),
  });
}

/** The SDK is loaded with the first execution. */
function lazyStart(functionName: string, { environment }: Session): StartExecution {
  const start = once(async () => {
    const { lambdaExecutions } = await import('../../../snapshot/durable/start-execution.ts');
    return lambdaExecutions({ functionName, environment });
  });
  return async (...execution) => (await start())(...execution);
}
