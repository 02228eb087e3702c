import type { Session } from '../session.ts';
import { needed } from '../settings.ts';
import { openJobStorage } from './job-storage.ts';
import { leaseOf, openWorker, type WorkerHooks } from './open-worker.ts';
import { openQueue } from './queue/open-queue.ts';
import type { QueueMessage } from './queue/queue.ts';
import { createDailyUsageCounter } from './texts/daily-usage.ts';
import { runBatch } from './work.ts';

/** The worker of a deployed function, for all of its invocations. Throws if there is no table or queue, or another table. */
export async function openInvocationWorker(session: Session, hooks: WorkerHooks) {
  const { settings, environment } = session;
  const queueUrl = needed(settings, 'SYNC_QUEUE_URL');
  const [storage, queue] = await Promise.all([openJobStorage(session), openQueue(queueUrl, environment)]);
  const worker = await openWorker(session, storage, hooks);
  const { ledger, table } = storage;
  return {
    /** Handles the messages of an invocation that has so long left; returns the ids of those that must come back. */
    run(messages: readonly QueueMessage[], remainingMs: number): Promise<readonly string[]> {
      const lease = leaseOf(remainingMs, ledger);
      return runBatch(messages, { worker, lease, queue, concurrency: settings.PLATFORM_CONCURRENCY });
    },
    /** Adds what was scored to the sums of the day, over all processes, and returns them; undefined if nothing was added. */
    addToDay: createDailyUsageCounter(table, ledger.now),
  };
}
