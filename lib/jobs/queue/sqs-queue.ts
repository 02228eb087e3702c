import { setTimeout as delay } from 'node:timers/promises';
import {
  type BatchResultErrorEntry,
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

/** How often a message is sent if SQS fails to accept it, and how long the first pause is. */
const MOST_ROUNDS = 3;
const PAUSE_MS = 200;

/** A client configured by the SDK's own variables. */
export const createSqsClient = (environment: AwsEnvironment): SQSClient =>
  new SQSClient({
    ...awsClientConfig(environment, {
      service: 'SQS',
      connectionTimeoutMs: 5_000,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    }),
    // The queue's URL only names the queue; its host need not resolve from here.
    useQueueUrlAsEndpoint: false,
  });

export type SqsQueueOptions = { readonly sleep?: (ms: number) => Promise<unknown> };

/**
 * A queue in SQS. The client has a time-out and tries three times, or `AWS_MAX_ATTEMPTS` times: a batch whose response
 * was lost is on the queue twice. Messages of a batch that SQS failed to accept are sent three times as well.
 */
export function createSqsQueue(
  queueUrl: string,
  client: SQSClient,
  { sleep = delay }: SqsQueueOptions = {},
): Queue {
  const QueueUrl = queueUrl;
  return {
    async send(bodies) {
      const all = bodies.length;
      let sent = 0;
      for (const batch of batchesOf(bodies)) {
        await sendBatch(batch, {
          send: (Entries) => client.send(new SendMessageBatchCommand({ QueueUrl, Entries })),
          tried: (ofBatch, isExact) =>
            `${queueUrl}: sent ${isExact ? '' : 'at least '}${sent + ofBatch} of ${all} messages`,
          sleep,
        });
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
      await asAwsError(`delete a message from ${queueUrl}`, () => client.send(command));
    },
    async delay(receipt, delayMs) {
      const VisibilityTimeout = Math.min(MOST_DELAY_SECONDS, Math.ceil(delayMs / 1000));
      const command = new ChangeMessageVisibilityCommand({
        QueueUrl,
        ReceiptHandle: receipt,
        VisibilityTimeout,
      });
      await asAwsError(`delay a message on ${queueUrl}`, () => client.send(command));
    },
    async counts() {
      const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
      const { Attributes = {} } = await asAwsError(`count the messages on ${queueUrl}`, () =>
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

type Entry = { readonly Id: string; readonly MessageBody: string };

type SendBatchOptions = {
  readonly send: (entries: Entry[]) => Promise<{ readonly Failed?: BatchResultErrorEntry[] | undefined }>;
  /** What an error says was done. `sent`: how many messages of the batch were sent; `isExact`: exactly so many. */
  readonly tried: (sent: number, isExact: boolean) => string;
  readonly sleep: (ms: number) => Promise<unknown>;
};

/** Sends a batch, and resends what SQS failed to accept through no fault of the messages: three rounds in all. */
async function sendBatch(bodies: readonly string[], { send, tried, sleep }: SendBatchOptions): Promise<void> {
  let left = bodies;
  for (let round = 1; ; round += 1) {
    const sentBefore = bodies.length - left.length;
    const entries = left.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
    const { Failed = [] } = await asAwsError(tried(sentBefore, false), () => send(entries));
    const first = Failed.find(({ SenderFault }) => SenderFault) ?? Failed[0];
    if (first === undefined) return;
    left = Failed.map(({ Id }) => left[Number(Id)]).filter((body) => body !== undefined);
    if (first.SenderFault || round === MOST_ROUNDS)
      throw new AwsError(tried(bodies.length - left.length, true), entryError(first.Code, first.Message));
    await sleep(PAUSE_MS * round);
  }
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
