import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { once } from '../../lib/base/index.ts';
import { openJobStorage } from '../../lib/jobs/job-storage.ts';
import { leaseOf, openWorker } from '../../lib/jobs/open-worker.ts';
import type { QueueMessage } from '../../lib/jobs/queue/queue.ts';
import { createScoredInDay } from '../../lib/jobs/texts/scored-in-day.ts';
import { runBatch } from '../../lib/jobs/work.ts';
import { openSession } from '../../lib/session.ts';
import { needed } from '../../lib/settings.ts';
import { createInvocations, openAtStart } from '../invocations.ts';
import { writeLine } from '../log-lines.ts';
import { createMetrics } from '../metrics.ts';

/** Runs jobs from the queue. Messages that are not finished are named in the response, and come back. */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  return invocations.run(context, async () => {
    const { worker, queue, concurrency, metrics, addToDay } = await ready();
    using _ = { [Symbol.dispose]: metrics.flush };
    const lease = leaseOf(context.getRemainingTimeInMillis(), worker.ledger);
    const failed = await runBatch(event.Records.map(parseRecord), { worker, lease, queue, concurrency });
    // Where the table is away, the next invocation adds it.
    const day = await addToDay(metrics.scored()).catch(() => undefined);
    if (day !== undefined) metrics.scoredInDay(day);
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  });
}

const invocations = createInvocations();

const parseRecord = ({ messageId, body, receiptHandle, attributes }: SQSRecord): QueueMessage => ({
  messageId,
  body,
  sender: attributes.SenderId,
  sentAtMs: Number(attributes.SentTimestamp),
  receives: Number(attributes.ApproximateReceiveCount),
  receipt: receiptHandle,
});

/** Opened when the process starts and shared by all events; if opening fails, the next event tries again. */
const ready = once(open);
await openAtStart(ready);

async function open() {
  const metrics = createMetrics(process.env, writeLine);
  const session = openSession({
    environment: process.env,
    err: writeLine,
    inHand: invocations.inHand,
    observe: metrics.observe,
  });
  metrics.followPace(session.paceCounts);
  const { settings } = session;
  const queueUrl = needed(settings, 'SYNC_QUEUE_URL');
  // Loaded here, like every client of the SDK.
  const [storage, { createSqsClient, createSqsQueue }] = await Promise.all([
    openJobStorage(session),
    import('../../lib/jobs/queue/sqs-queue.ts'),
  ]);
  return {
    worker: await openWorker(session, storage, {
      onEnded: metrics.jobFinished,
      onRefused: metrics.messageRefused,
      onSentiment: metrics.textScored,
    }),
    queue: createSqsQueue(queueUrl, createSqsClient(queueUrl, process.env)),
    concurrency: settings.PLATFORM_CONCURRENCY,
    metrics,
    addToDay: createScoredInDay(storage.table, storage.ledger.now),
  };
}
