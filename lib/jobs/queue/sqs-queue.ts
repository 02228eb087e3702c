import { setTimeout as delay } from 'node:timers/promises';
import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SQSClient,
} from '@aws-sdk/client-sqs';
import {
  type AwsEnvironment,
  asAwsError,
  awsClientConfig,
  entryError,
  queueEndpoint,
} from '../../base/aws/index.ts';
import { parseOwnJson } from '../../base/json/index.ts';
import {
  batchesOf,
  MAX_MESSAGE_BYTES,
  type Queue,
  type QueueMessage,
  sendable,
  UnsentError,
  type UnsentMessage,
} from './queue.ts';

const REQUEST_TIMEOUT_MS = 30_000;

/** Creates a client for the queue. The queue's URL decides the endpoint and the region (see `queueEndpoint`). */
export function createSqsClient(queueUrl: string, environment: AwsEnvironment): SQSClient {
  return new SQSClient({
    ...awsClientConfig(environment, {
      service: 'SQS',
      connectionTimeoutMs: 5_000,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    }),
    ...queueEndpoint(queueUrl, environment),
    // The endpoint is in the configuration already; the SDK would overrule it.
    useQueueUrlAsEndpoint: false,
  });
}

/**
 * Creates a queue in SQS. The client tries three times, or `AWS_MAX_ATTEMPTS` times, so a batch whose response was lost
 * is on the queue twice.
 */
export function createSqsQueue(
  queueUrl: string,
  client: SQSClient,
  { sleep = delay }: { readonly sleep?: (ms: number) => Promise<unknown> } = {},
): Queue {
  const QueueUrl = queueUrl;
  const attributes = async (tried: string) => {
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
    const { Attributes = {} } = await asQueueError(`${tried} ${queueUrl}`, () => client.send(command));
    return Attributes;
  };
  return {
    send: (bodies, { delayMs = 0 } = {}) =>
      sendMessages(queueUrl, bodies, {
        send: (entries) => {
          const DelaySeconds = Math.ceil(delayMs / 1000);
          const Entries = delayMs === 0 ? entries : entries.map((entry) => ({ ...entry, DelaySeconds }));
          return client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
        },
        sleep,
      }),
    async receive({ max, waitSeconds, visibilitySeconds }) {
      const command = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: max,
        WaitTimeSeconds: waitSeconds,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ['All'],
      });
      const { Messages = [] } = await asQueueError(`receive from ${queueUrl}`, () => client.send(command));
      return Messages.map(toMessage);
    },
    async delete(receipt) {
      const command = new DeleteMessageCommand({ QueueUrl, ReceiptHandle: receipt });
      await asQueueError(`delete a message from ${queueUrl}`, () => client.send(command));
    },
    async delay(receipt, delayMs) {
      const VisibilityTimeout = Math.min(MAX_DELAY_SECONDS, Math.ceil(delayMs / 1000));
      const input = { QueueUrl, ReceiptHandle: receipt, VisibilityTimeout };
      const command = new ChangeMessageVisibilityCommand(input);
      await asQueueError(`delay a message on ${queueUrl}`, () => client.send(command));
    },
    async counts() {
      const counted = await attributes('count the messages on');
      return {
        waiting: Number(counted['ApproximateNumberOfMessages'] ?? 0),
        inFlight: Number(counted['ApproximateNumberOfMessagesNotVisible'] ?? 0),
        delayed: Number(counted['ApproximateNumberOfMessagesDelayed'] ?? 0),
      };
    },
    limits: async () => toLimits(await attributes('read the limits of')),
  };
}

function toLimits(
  attributes: Readonly<Record<string, string | undefined>>,
): Awaited<ReturnType<NonNullable<Queue['limits']>>> {
  const { RedrivePolicy, MessageRetentionPeriod, VisibilityTimeout, MaximumMessageSize } = attributes;
  // Some engines write the count as a string.
  const { maxReceiveCount, deadLetterTargetArn } = parseOwnJson(RedrivePolicy || '{}') as {
    readonly maxReceiveCount?: number | string;
    readonly deadLetterTargetArn?: string;
  };
  return {
    maxReceives: maxReceiveCount === undefined ? undefined : Number(maxReceiveCount),
    deadLetters: deadLetterTargetArn,
    // SQS's defaults apply if an engine leaves them out.
    retentionSeconds: Number(MessageRetentionPeriod ?? 345_600),
    visibilitySeconds: Number(VisibilityTimeout ?? 30),
    maxBytes: Number(MaximumMessageSize ?? MAX_MESSAGE_BYTES),
    isFifo: attributes['FifoQueue'] === 'true',
  };
}

const asQueueError = <T>(tried: string, work: () => Promise<T>): Promise<T> =>
  asAwsError({ resource: 'queue', tried }, work);

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

/**
 * Maximum delay, in seconds. SQS hides a message for at most 12 hours from its receipt. A Lambda may already have had it
 * for 15 minutes, and 5 minutes are a reserve.
 */
const MAX_DELAY_SECONDS = 43_200 - 900 - 300;

/** How many times a message is sent if SQS fails to accept it. */
const MAX_ROUNDS = 3;

/** The pause before the second round, in milliseconds. Later pauses are longer. */
const PAUSE_MS = 200;

type Numbered = { readonly index: number; readonly body: string };

type SendBatch = (
  entries: SendMessageBatchRequestEntry[],
) => Promise<{ readonly Failed?: BatchResultErrorEntry[] | undefined }>;

/**
 * Sends messages in batches, and messages that SQS failed to accept again, in up to three rounds. Throws `UnsentError` if
 * some were not sent.
 */
async function sendMessages(
  queue: string,
  bodies: readonly string[],
  { send, sleep }: { readonly send: SendBatch; readonly sleep: (ms: number) => Promise<unknown> },
): Promise<void> {
  const unsent: UnsentMessage[] = [];
  let index = 0;
  for (const batch of batchesOf(bodies.map(sendable))) {
    let pending: readonly Numbered[] = batch.map((body, position) => ({ index: index + position, body }));
    index += batch.length;
    for (let round = 1; pending.length > 0; round += 1) {
      if (round > 1) await sleep(PAUSE_MS * (round - 1));
      const failed = await sendBatch(pending, send);
      pending = round < MAX_ROUNDS ? failed.filter(({ mayPass }) => mayPass) : [];
      unsent.push(...failed.filter((each) => !pending.includes(each)));
    }
  }
  const [first, ...others] = unsent
    .map(({ index, cause, mayBeSent }) => ({ index, cause, mayBeSent }))
    .toSorted((one, other) => one.index - other.index);
  if (first !== undefined) throw new UnsentError(queue, bodies.length, [first, ...others]);
}

/** Sends one request, and returns the messages that were not sent. `mayPass`: whether another try may succeed. */
async function sendBatch(
  messages: readonly Numbered[],
  send: SendBatch,
): Promise<readonly (Numbered & UnsentMessage & { readonly mayPass: boolean })[]> {
  try {
    const { Failed = [] } = await send(
      messages.map(({ body }, position) => ({ Id: `${position}`, MessageBody: body })),
    );
    return Failed.flatMap(({ Id, Code, Message, SenderFault }) => {
      const message = messages[Number(Id)];
      const cause = entryError(Code, Message);
      return message === undefined
        ? []
        : [{ ...message, cause, mayBeSent: false, mayPass: SenderFault !== true }];
    });
  } catch (cause) {
    return messages.map((message) => ({ ...message, cause, mayBeSent: true, mayPass: false }));
  }
}
