import {
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type LocalAws, startAws } from '../services/start-aws.ts';
import {
  type EventSourceMappingOptions,
  type SqsRecord,
  startEventSourceMapping,
} from './event-source-mapping.ts';

const file = `${import.meta.dirname}/handlers.ts`;
const bounds = { timeout: 20_000, interval: 50 };

/** The start of a line in which the handler logged an invocation. */
const SEEN = 'invocation ';

/** The handler's log line about one invocation. */
type Seen = {
  readonly Records: readonly SqsRecord[];
  readonly pid: number;
  readonly startedMs: number;
  readonly endedMs: number;
};

let aws: LocalAws;
let client: SQSClient;
let invocations: Seen[];
let logged: string[];

const exact = 'these tests compare each delivery and each count';

beforeEach(async () => {
  aws = await startAws({
    off: {
      'sqs-counts-lag': exact,
      'sqs-deliveries-repeat': exact,
      'sqs-fewer-messages': exact,
      'sqs-order-changes': exact,
      'sqs-short-polls-miss': exact,
    },
    queues: [
      { name: 'jobs', visibilitySeconds: 30 },
      // Only this queue redelivers while a test runs, so that a slow machine does not affect other tests.
      { name: 'again', visibilitySeconds: 2, deadLetter: { queue: 'dead', maxReceiveCount: 2 } },
      { name: 'dead' },
    ],
  });
  client = new SQSClient({ endpoint: aws.endpoint, region: aws.region, credentials: aws.credentials });
  invocations = [];
  logged = [];
});

afterEach(async () => {
  client.destroy();
  await aws.close();
});

const map = (options: Partial<EventSourceMappingOptions> = {}) =>
  startEventSourceMapping({
    aws,
    queueUrl: aws.queueUrl('jobs'),
    file,
    environment: { SEEN },
    timeoutMs: 10_000,
    onLog: (line) =>
      line.startsWith(SEEN) ? invocations.push(JSON.parse(line.slice(SEEN.length))) : logged.push(line),
    // These tests count processes and messages exactly. Tests of occasional events turn them on.
    sometimes: () => false,
    ...options,
  });

const mapAgain = (options: Partial<EventSourceMappingOptions> = {}) =>
  map({ queueUrl: aws.queueUrl('again'), timeoutMs: 2_000, ...options });

const sendTo = (queue: 'jobs' | 'again', ...bodies: readonly string[]) =>
  client.send(
    new SendMessageBatchCommand({
      QueueUrl: aws.queueUrl(queue),
      Entries: bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody })),
    }),
  );

const send = (...bodies: readonly string[]) => sendTo('jobs', ...bodies);

/** Bodies and receive counts of all received messages, ordered by body. */
const received = () =>
  invocations
    .flatMap(({ Records }) => Records)
    .map(({ body, attributes }) => `${body} ${attributes['ApproximateReceiveCount']}`)
    .toSorted();

async function counts(queue: string) {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: aws.queueUrl(queue), AttributeNames: ['All'] }),
  );
  return [
    Number(Attributes?.ApproximateNumberOfMessages),
    Number(Attributes?.ApproximateNumberOfMessagesNotVisible),
  ];
}

const empty = () => vi.waitFor(async () => expect(await counts('jobs')).toEqual([0, 0]), bounds);

describe('an event source mapping', () => {
  test("passes on a batch in Lambda's shape and deletes it", async () => {
    const MessageAttributes = {
      kind: { DataType: 'String', StringValue: 'x' },
      raw: { DataType: 'Binary', BinaryValue: Buffer.from('y') },
    };
    await client.send(
      new SendMessageCommand({ QueueUrl: aws.queueUrl('jobs'), MessageBody: 'ok', MessageAttributes }),
    );
    await send('fine');

    await using _mapping = await map();
    await empty();

    const [invocation] = invocations;
    expect(invocation?.Records).toEqual([
      {
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        receiptHandle: expect.any(String),
        body: 'ok',
        attributes: {
          ApproximateReceiveCount: '1',
          SentTimestamp: expect.stringMatching(/^\d{13}$/),
          SenderId: '000000000000',
          ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
        },
        messageAttributes: {
          kind: { stringValue: 'x', stringListValues: [], binaryListValues: [], dataType: 'String' },
          raw: { binaryValue: 'eQ==', stringListValues: [], binaryListValues: [], dataType: 'Binary' },
        },
        md5OfBody: '444bcb3a3fcf8389296c49467f27e1d6',
        md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
        eventSource: 'aws:sqs',
        eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:jobs',
        awsRegion: 'us-east-1',
      },
      expect.objectContaining({ body: 'fine', messageAttributes: {} }),
    ]);
  });

  test('collects no more than one batch', async () => {
    await send('1', '2', '3', '4', '5', '6', '7');

    await using _mapping = await map({ batchSize: 3, maximumConcurrency: 1 });
    await empty();

    expect(invocations.map(({ Records }) => Records.length)).toEqual([3, 3, 1]);
  });

  test.for(['throw', 'null', 'unknown'])('fails the whole batch if the handler ends with %s', async (how) => {
    await send('ok', how);

    const mapping = await map();
    await vi.waitFor(() => expect(invocations.length).toBe(1), bounds);
    await mapping.close();

    expect(await counts('jobs')).toEqual([0, 2]);
  });

  test('receives a batch that timed out again only after its visibility timeout, and then turns it into dead letters', async () => {
    await sendTo('again', 'forever', 'ok');

    await using _mapping = await mapAgain({ timeoutMs: 1_000, maximumConcurrency: 1 });
    await vi.waitFor(async () => expect(await counts('dead')).toEqual([2, 0]), bounds);

    const [first, second] = invocations;
    expect(received()).toEqual(['forever 1', 'forever 2', 'ok 1', 'ok 2']);
    expect(Number(second?.startedMs) - Number(first?.startedMs)).toBeGreaterThan(1_500);
    expect(second?.pid).not.toBe(first?.pid);
  });

  test('occasionally passes a message twice in one batch that is not full, and deletes it once', async () => {
    await send('ok', 'fine');

    await using _mapping = await map({ batchSize: 3, sometimes: (rule) => rule === 'repeats-messages' });
    await empty();

    const ids = invocations.flatMap(({ Records }) => Records.map(({ messageId }) => messageId));
    expect(ids.length).toBeGreaterThan(new Set(ids).size);
    expect(Math.max(...invocations.map(({ Records }) => Records.length))).toBeLessThanOrEqual(3);
    expect(logged).toEqual([]);
  });

  test('runs as many invocations concurrently as allowed, each in its own process', async () => {
    await send('slow', 'slow', 'slow', 'slow', 'slow', 'slow');

    await using _mapping = await map({ batchSize: 1, maximumConcurrency: 2 });
    await empty();

    const atOnce = invocations.map(
      ({ startedMs }) =>
        invocations.filter((other) => other.startedMs <= startedMs && startedMs < other.endedMs).length,
    );
    expect(invocations.length).toBe(6);
    expect(Math.max(...atOnce)).toBe(2);
    expect(new Set(invocations.map(({ pid }) => pid)).size).toBe(2);
  });

  test('finishes the current batch on close and receives nothing more', async () => {
    await send('slow');
    const mapping = await map();
    await vi.waitFor(async () => expect(await counts('jobs')).toEqual([0, 1]), bounds);

    await mapping.close();
    await send('later');

    const [invocation] = invocations;
    expect(() => process.kill(Number(invocation?.pid), 0)).toThrow('ESRCH');
    expect(received()).toEqual(['slow 1']);
    expect(await counts('jobs')).toEqual([1, 0]);
  });
});
