import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import { sleep } from '../../../lib/base/async.ts';
import type { LocalAws } from '../services/start-aws.ts';
import {
  createHandlerProcess,
  type HandlerProcess,
  type HandlerProcessOptions,
  settlesWithin,
} from './create-handler-process.ts';
import { type Sometimes, sometimes } from './lambda-rules.ts';
import { createQueueReader, type QueueReader } from './queue-reader.ts';

/** The options of the handler and of the mapping. `timeoutMs` must not exceed the queue's visibility timeout. */
export type EventSourceMappingOptions = HandlerProcessOptions & {
  readonly aws: Pick<LocalAws, 'endpoint' | 'region' | 'credentials'>;
  readonly queueUrl: string;
  /** Maximum number of messages in one invocation, 1 to 10. Default: 10. */
  readonly batchSize?: number;
  /** Maximum number of concurrent invocations, each in its own process: 1 to 100. Default: 2. */
  readonly maximumConcurrency?: number;
};

export type EventSourceMapping = {
  /**
   * Receives no further messages, waits at most `graceMs` (10,000) for the current batches, kills what is still running,
   * and ends the processes. The messages of a killed batch become visible again after their visibility timeout.
   */
  close(graceMs?: number): Promise<void>;
} & AsyncDisposable;

/**
 * Polls a queue and calls a handler with batches, like Lambda's event source mapping with ReportBatchItemFailures.
 * Messages that succeed are deleted; those that fail stay hidden until their visibility timeout ends, and the queue's
 * own redrive policy sends them to the dead-letter queue. Occasionally a batch contains a message twice. Failures of a
 * batch or of the queue are reported as a line to `onLog`. Throws a `TypeError` for invalid options, and the error of
 * SQS if the queue does not exist.
 */
export async function startEventSourceMapping(
  options: EventSourceMappingOptions,
): Promise<EventSourceMapping> {
  const { aws, queueUrl, batchSize = 10, maximumConcurrency = 2, ...given } = options;
  // All processes share the random decisions. Otherwise all would be recycled at the same invocation.
  const handler = { ...given, sometimes: given.sometimes ?? sometimes(SEED) };
  checkRange('batchSize', batchSize, 10);
  checkRange('maximumConcurrency', maximumConcurrency, 100);
  const processes = Array.from({ length: maximumConcurrency }, () => createHandlerProcess(handler));
  const queue = createQueueReader(aws, queueUrl);
  const stopping = new AbortController();
  const source = {
    queue,
    arn: await describeQueue(queue, handler.timeoutMs),
    batchSize,
    onLog: handler.onLog ?? (() => undefined),
    sometimes: handler.sometimes,
    signal: stopping.signal,
  };
  // A lane polls only when its process is free, so that no received message waits for a process.
  const lanes = Promise.all(processes.map((process) => runLane(source, process)));
  const close = async (graceMs = DEFAULT_GRACE_MS): Promise<void> => {
    stopping.abort();
    const inTime = await settlesWithin(lanes, graceMs);
    await Promise.all(processes.map((process) => process.close(inTime ? graceMs : 0)));
    await lanes.finally(() => queue.close());
  };
  return { close, [Symbol.asyncDispose]: () => close() };
}

const DEFAULT_GRACE_MS = 10_000;
const PAUSE_MS = 1_000;
const SEED = 1;

function checkRange(name: string, value: number, most: number): void {
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new TypeError(`${name}: expected a whole number from 1 to ${most}, got ${value}`);
}

/** Returns the queue's ARN. Throws, as AWS does, if messages would reappear while their batch is still running. */
async function describeQueue(queue: QueueReader, timeoutMs: number): Promise<string> {
  try {
    const { arn, visibilityMs } = await queue.describe();
    if (visibilityMs < timeoutMs)
      throw new TypeError(
        `timeoutMs: expected at most the queue's visibility timeout, ${visibilityMs}, got ${timeoutMs}`,
      );
    return arn;
  } catch (error) {
    queue.close();
    throw error;
  }
}

type Source = {
  readonly queue: QueueReader;
  readonly arn: string;
  readonly batchSize: number;
  readonly onLog: (line: string) => void;
  readonly sometimes: Sometimes;
  readonly signal: AbortSignal;
};

async function runLane(source: Source, process: HandlerProcess): Promise<void> {
  while (!source.signal.aborted) {
    try {
      const messages = await source.queue.receive(source.batchSize);
      if (messages.length > 0) await runBatch(source, process, messages);
    } catch (error) {
      source.onLog(`event source mapping: ${error}`);
      await sleep(PAUSE_MS, source.signal).catch(() => undefined);
    }
  }
}

async function runBatch(
  { queue, arn, batchSize, onLog, sometimes: occurs }: Source,
  process: HandlerProcess,
  messages: readonly Message[],
): Promise<void> {
  const ids = new Set(messages.map(({ MessageId = '' }) => MessageId));
  const repeated = messages.length < batchSize && occurs('repeats-messages') ? messages.slice(0, 1) : [];
  const failed = await process
    .invoke(toSqsEvent([...messages, ...repeated], arn))
    .then((result) => failedMessageIds(result, ids))
    .catch((error: unknown) => {
      onLog(`event source mapping: ${error}`);
      return ids;
    });
  await queue.remove(messages.filter(({ MessageId = '' }) => !failed.has(MessageId)));
}

/**
 * Which messages of a batch a handler's result reports as failed, by Lambda's rules for ReportBatchItemFailures: none if
 * there is no result, no list or an empty one; all if an entry names no message of the batch, or the result is not an
 * object.
 * Source: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
function failedMessageIds(result: unknown, ids: ReadonlySet<string>): ReadonlySet<string> {
  if (result === null || result === undefined) return NONE;
  if (typeof result !== 'object') return ids;
  const { batchItemFailures } = result as { readonly batchItemFailures?: unknown };
  if (batchItemFailures === null || batchItemFailures === undefined) return NONE;
  if (!Array.isArray(batchItemFailures)) return ids;
  const named: readonly unknown[] = batchItemFailures.map((failure) => failure?.itemIdentifier);
  const failed = named.filter((id): id is string => typeof id === 'string' && ids.has(id));
  return failed.length === named.length ? new Set(failed) : ids;
}

const NONE: ReadonlySet<string> = new Set();

/** A message as Lambda's event source mapping passes it on. */
export type SqsRecord = {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly messageAttributes: Readonly<Record<string, object>>;
  readonly md5OfBody: string;
  readonly md5OfMessageAttributes?: string;
  readonly eventSource: 'aws:sqs';
  readonly eventSourceARN: string;
  readonly awsRegion: string;
};

/** The event for a batch: the received messages in Lambda's shape. */
const toSqsEvent = (
  messages: readonly Message[],
  eventSourceARN: string,
): { readonly Records: readonly SqsRecord[] } => ({
  Records: messages.map((message) => toRecord(message, eventSourceARN)),
});

const toRecord = (message: Message, eventSourceARN: string): SqsRecord => ({
  messageId: message.MessageId ?? '',
  receiptHandle: message.ReceiptHandle ?? '',
  body: message.Body ?? '',
  attributes: message.Attributes ?? {},
  messageAttributes: Object.fromEntries(
    Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, toAttribute(value)]),
  ),
  md5OfBody: message.MD5OfBody ?? '',
  ...(message.MD5OfMessageAttributes ? { md5OfMessageAttributes: message.MD5OfMessageAttributes } : {}),
  eventSource: 'aws:sqs',
  eventSourceARN,
  awsRegion: eventSourceARN.split(':')[3] ?? '',
});

const toAttribute = ({ DataType, StringValue, BinaryValue }: MessageAttributeValue): object => ({
  ...(StringValue === undefined ? {} : { stringValue: StringValue }),
  ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
  stringListValues: [],
  binaryListValues: [],
  dataType: DataType,
});
