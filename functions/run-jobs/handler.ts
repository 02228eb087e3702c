import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { once } from '../../lib/base/index.ts';
import { openInvocationWorker } from '../../lib/jobs/index.ts';
import { openSession } from '../../lib/session.ts';
import { createInvocations, openAtStart } from '../invocations.ts';
import { writeLine } from '../log-lines.ts';
import { createMetrics } from '../metrics.ts';

/** Runs jobs from the queue. The response lists the messages that were not finished, which return to the queue. */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  return invocations.run(context, async () => {
    const { worker, metrics } = await ready();
    using _ = { [Symbol.dispose]: metrics.flush };
    const failed = await worker.run(event.Records.map(parseRecord), context.getRemainingTimeInMillis());
    // If the table is unavailable, the next invocation adds these counts to its own.
    const day = await worker.addToDay(metrics.scored()).catch(() => undefined);
    if (day !== undefined) metrics.scoredInDay(day);
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  });
}

const invocations = createInvocations();

const parseRecord = ({ messageId, body, receiptHandle, attributes }: SQSRecord) => ({
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
  const worker = await openInvocationWorker(session, {
    onEnded: metrics.jobFinished,
    onRefused: metrics.messageRefused,
    onSentiment: metrics.textScored,
  });
  return { worker, metrics };
}
