import { setTimeout as delay } from 'node:timers/promises';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import {
  type AwsEnvironment,
  AwsError,
  asAwsError,
  awsClientConfig,
  queueEndpoint,
} from '../../base/index.ts';
import type { Queue, QueueMessage } from './queue.ts';
import { sendMessages } from './send-messages.ts';

/** Longer than the longest poll. */
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * A client for the queue, whose URL decides the endpoint and the region (see `queueEndpoint`); the rest is configured by
 * the SDK's own variables. Throws `TypeError` for a URL that the environment contradicts: reading the settings refuses it
 * before.
 */
export function createSqsClient(queueUrl: string, environment: AwsEnvironment): SQSClient {
  const found = queueEndpoint(queueUrl, environment);
  if (found.kind === 'refused') throw new TypeError(`the URL of a queue: ${found.fault}`);
  return new SQSClient({
    ...awsClientConfig(environment, {
      service: 'SQS',
      connectionTimeoutMs: 5_000,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    }),
    ...found.config,
    // Already in the configuration; the SDK would overrule the endpoint that is set.
    useQueueUrlAsEndpoint: false,
  });
}

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
    send: (bodies, { delayMs = 0 } = {}) =>
      sendMessages(bodies, {
        queue: queueUrl,
        send: (entries) => {
          const DelaySeconds = Math.ceil(delayMs / 1000);
          const Entries = delayMs === 0 ? entries : entries.map((entry) => ({ ...entry, DelaySeconds }));
          return client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
        },
        sleep,
      }),
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
    delay: (receipt, delayMs) =>
      delayMessage(delayMs, queueUrl, (VisibilityTimeout) =>
        client.send(
          new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: receipt, VisibilityTimeout }),
        ),
      ),
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

/** SQS's own limit on how long a message may be hidden, counted from when it was received. */
const MOST_HIDDEN_SECONDS = 43_200;

/** The longest that a deployed worker may hold a message before it delays it: Lambda's limit, and 5 minutes of slack. */
const LONGEST_HOLD_SECONDS = 900 + 300;

/** A delay that was refused is halved until it is shorter than this. */
const LEAST_DELAY_SECONDS = 60;

/**
 * Delays a message, or for as long as SQS hides one that was held for the longest time. A message that was held even
 * longer, as `work` may, is refused so long a delay: then it is halved. Throws `AwsError` if none is accepted.
 */
async function delayMessage(
  delayMs: number,
  queue: string,
  hide: (seconds: number) => Promise<unknown>,
): Promise<void> {
  let seconds = Math.min(MOST_HIDDEN_SECONDS - LONGEST_HOLD_SECONDS, Math.ceil(delayMs / 1000));
  for (;;) {
    try {
      await hide(seconds);
      return;
    } catch (cause) {
      const error = new AwsError(`delay a message on ${queue}`, cause);
      if (seconds / 2 < LEAST_DELAY_SECONDS || !isTooLong(error)) throw error;
      seconds = Math.floor(seconds / 2);
    }
  }
}

/** A receipt that is invalid has the same code, but a shorter delay would not help it. */
const isTooLong = ({ failure, message }: AwsError) =>
  /(^|\.)InvalidParameterValue/.test(failure.code) && !/receipt/i.test(message);
