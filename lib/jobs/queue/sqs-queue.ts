import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { AwsError, asAwsError, entryError } from '../../aws/aws-error.ts';
import { type AwsEnvironment, awsClientConfig } from '../../aws/client-config.ts';
import { batchesOf } from './message-batches.ts';
import type { Queue, QueueMessage } from './queue.ts';

/** SQS's own limit. */
const MOST_DELAY_SECONDS = 43_200;

/** Longer than the longest poll. */
const REQUEST_TIMEOUT_MS = 30_000;

/** A client by the SDK's own variables. */
export const createSqsClient = (environment: AwsEnvironment): SQSClient =>
  new SQSClient({
    ...awsClientConfig(environment, {
      service: 'SQS',
      connectionTimeoutMs: 5_000,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    }),
    // The queue's URL names it; its host need not resolve from here.
    useQueueUrlAsEndpoint: false,
  });

/**
 * A queue in SQS. The client times out and tries three times, or `AWS_MAX_ATTEMPTS`: a batch whose response was lost is
 * on the queue twice.
 */
export function createSqsQueue(queueUrl: string, client: SQSClient): Queue {
  const QueueUrl = queueUrl;
  const sendBatch = async (bodies: readonly string[], sentBefore: number, all: number): Promise<void> => {
    const Entries = bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
    const { Failed = [] } = await asAwsError(
      `${queueUrl}: sent at least ${sentBefore} of ${all} messages`,
      () => client.send(new SendMessageBatchCommand({ QueueUrl, Entries })),
    );
    const [first] = Failed;
    if (first === undefined) return;
    const sent = sentBefore + bodies.length - Failed.length;
    const tried = `${queueUrl}: sent ${sent} of ${all} messages`;
    throw new AwsError(tried, entryError(first.Code, first.Message));
  };
  return {
    async send(bodies) {
      let sent = 0;
      for (const batch of batchesOf(bodies)) {
        await sendBatch(batch, sent, bodies.length);
        sent += batch.length;
      }
    },
    async receive({ most, waitSeconds, visibilitySeconds }) {
      const command = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: most,
        WaitTimeSeconds: waitSeconds,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ['All'],
      });
      const { Messages = [] } = await asAwsError(`receive from ${queueUrl}`, () => client.send(command));
      return Messages.map(toMessage);
    },
    async delete(receipt) {
      const command = new DeleteMessageCommand({ QueueUrl, ReceiptHandle: receipt });
      await asAwsError(`delete a message of ${queueUrl}`, () => client.send(command));
    },
    async delay(receipt, delayMs) {
      const VisibilityTimeout = Math.min(MOST_DELAY_SECONDS, Math.ceil(delayMs / 1000));
      const command = new ChangeMessageVisibilityCommand({
        QueueUrl,
        ReceiptHandle: receipt,
        VisibilityTimeout,
      });
      await asAwsError(`delay a message of ${queueUrl}`, () => client.send(command));
    },
    async counts() {
      const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
      const { Attributes = {} } = await asAwsError(`count the messages of ${queueUrl}`, () =>
        client.send(command),
      );
      return {
        waiting: Number(Attributes['ApproximateNumberOfMessages'] ?? 0),
        inFlight: Number(Attributes['ApproximateNumberOfMessagesNotVisible'] ?? 0),
        delayed: Number(Attributes['ApproximateNumberOfMessagesDelayed'] ?? 0),
      };
    },
  };
}

function toMessage({ MessageId, Body, ReceiptHandle, Attributes = {} }: Message): QueueMessage {
  const sent = Attributes.SentTimestamp;
  return {
    messageId: MessageId ?? '',
    body: Body ?? '',
    sender: Attributes.SenderId ?? 'unknown',
    ...(sent === undefined ? {} : { sentAtMs: Number(sent) }),
    receives: Number(Attributes.ApproximateReceiveCount ?? 1),
    receipt: ReceiptHandle ?? '',
  };
}
