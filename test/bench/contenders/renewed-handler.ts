import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { once } from '../../../lib/base/async.ts';
import { openJobStorage } from '../../../lib/jobs/job-storage.ts';
import { openWorker, renewedLease } from '../../../lib/jobs/open-worker.ts';
import type { QueueMessage } from '../../../lib/jobs/queue/queue.ts';
import { runBatch } from '../../../lib/jobs/work.ts';
import { openSession } from '../../../lib/session.ts';

/** The worker with renewed leases, as in `work`, but of 2 s, so that jobs of a killed process are taken over soon. */
export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  const { worker, lease } = await ready();
  const queue = { delay: async () => undefined, send: async () => undefined, delete: async () => undefined };
  const failed = await runBatch(event.Records.map(parseRecord), { worker, lease, queue, concurrency: 10 });
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
}

const parseRecord = ({ messageId, body, receiptHandle, attributes }: SQSRecord): QueueMessage => ({
  messageId,
  body,
  sender: attributes.SenderId,
  sentAtMs: Number(attributes.SentTimestamp),
  receives: Number(attributes.ApproximateReceiveCount),
  receipt: receiptHandle,
});

const ready = once(async () => {
  const session = openSession({ environment: process.env, err: () => undefined });
  const storage = await openJobStorage(session);
  return {
    worker: await openWorker(session, storage),
    lease: renewedLease(storage.ledger, { leaseMs: 2_000 }),
  };
});
