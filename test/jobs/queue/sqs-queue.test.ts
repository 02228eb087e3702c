import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityCommand,
  InvalidAddress,
  KmsDisabled,
  OverLimit,
  QueueDoesNotExist,
  ReceiptHandleIsInvalid,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSqsClient, createSqsQueue } from '../../../lib/jobs/queue/sqs-queue.ts';
import { environmentOf, jsonError, jsonReply, lost, retryAtOnce } from '../../base/aws/replies.ts';
import { type Reply, startServer } from '../../platform/scripted-server.ts';

const QUEUE = 'https://sqs.eu-central-1.amazonaws.com/123456789012/jobs';
const $metadata = { httpStatusCode: 400 };

/** A queue over a mocked client, without the SDK's retries. */
function mockedQueue() {
  const client = new SQSClient({ region: 'eu-central-1' });
  const sqs = mockClient(client);
  const sent = () =>
    sqs
      .commandCalls(SendMessageBatchCommand)
      .map(({ args: [{ input }] }) => input.Entries?.map(({ MessageBody }) => MessageBody));
  const slept: number[] = [];
  const sleep = async (ms: number) => slept.push(ms);
  return { sqs, sent, slept, queue: createSqsQueue(QUEUE, client, { sleep }) };
}

const failedEntry = (Id: string, Code: string, SenderFault: boolean) => ({
  Id,
  Code,
  SenderFault,
  Message: 'not accepted',
});

test('messages are delayed in whole seconds, and only on request', async () => {
  const { sqs, queue } = mockedQueue();
  sqs.on(SendMessageBatchCommand).resolves({ Successful: undefined, Failed: undefined });

  await queue.send(['a'], { delayMs: 1_200 });
  await queue.send(['b']);

  expect(sqs.commandCalls(SendMessageBatchCommand).map(({ args: [{ input }] }) => input.Entries)).toEqual([
    [{ Id: '0', MessageBody: 'a', DelaySeconds: 2 }],
    [{ Id: '0', MessageBody: 'b' }],
  ]);
});

test('messages that cannot be sent are named, and block neither their batch nor the next', async () => {
  const { sqs, sent, queue } = mockedQueue();
  const bodies = Array.from({ length: 12 }, (_, index) => `message ${index + 1}`);
  sqs
    .on(SendMessageBatchCommand)
    .resolves({ Successful: undefined, Failed: [failedEntry('1', 'InvalidMessageContents', true)] });

  const send = queue.send(bodies);

  await expect(send).rejects.toMatchObject({
    name: 'UnsentError',
    message: `${QUEUE}: sent 10 of 12 messages, not number 2, 12: InvalidMessageContents: not accepted`,
    failure: { kind: 'other', code: 'InvalidMessageContents' },
    unsent: [{ index: 1 }, { index: 11 }],
  });
  expect(sent()).toEqual([bodies.slice(0, 10), bodies.slice(10)]);
});

test.for([
  new QueueDoesNotExist({ message: 'no such queue', $metadata }),
  new InvalidAddress({ message: 'not a queue of this endpoint', $metadata }),
  new KmsDisabled({ message: 'the key is disabled', $metadata }),
  new Error('Region is missing'),
])('an unusable queue is reported as the reason: %s', async (cause) => {
  const { sqs, sent, queue } = mockedQueue();
  sqs.on(SendMessageBatchCommand).rejects(cause);

  const send = queue.send(['a', 'b']);

  await expect(send).rejects.toMatchObject({ isOfQueue: true, unsent: [{ index: 0 }, { index: 1 }] });
  expect(sent()).toHaveLength(1);
});

describe('messages that SQS did not accept because of an internal error', () => {
  const failing = (...ids: string[]) => ids.map((id) => failedEntry(id, 'InternalError', false));
  const invalid = failedEntry('2', 'InvalidMessageContents', true);
  const noSuchQueue = new QueueDoesNotExist({ message: 'no such queue', $metadata });

  test.for<[string, readonly BatchResultErrorEntry[][], string | undefined, readonly string[][]]>([
    [
      'sent again, and only those',
      [failing('1', '2'), failing('1'), []],
      undefined,
      [['a', 'b', 'c'], ['b', 'c'], ['c']],
    ],
    [
      'an error after three tries',
      [failing('0', '2'), failing('1'), failing('0')],
      'sent 2 of 3 messages, not number 3: InternalError: not accepted',
      [['a', 'b', 'c'], ['a', 'c'], ['c']],
    ],
    [
      'sent again even if another message is invalid, which is not',
      [[...failing('0'), invalid], []],
      'sent 2 of 3 messages, not number 3: InvalidMessageContents: not accepted',
      [['a', 'b', 'c'], ['a']],
    ],
    [
      'perhaps sent if the next try of the rest fails altogether',
      [failing('0')],
      'sent at least 2 of 3 messages, perhaps not number 1: QueueDoesNotExist',
      [['a', 'b', 'c'], ['a']],
    ],
  ])('are %s', async ([, answers, said, batches]) => {
    const { sqs, sent, slept, queue } = mockedQueue();
    const command = sqs.on(SendMessageBatchCommand);
    for (const Failed of answers) command.resolvesOnce({ Successful: undefined, Failed });
    command.rejects(noSuchQueue);

    const send = queue.send(['a', 'b', 'c']);

    if (said === undefined) await send;
    else await expect(send).rejects.toThrow(`${QUEUE}: ${said}`);
    expect(sent()).toEqual(batches);
    expect(slept).toEqual([200, 400].slice(0, batches.length - 1));
  });
});

describe('an error of the client names the queue and what was tried', () => {
  test.for([
    [new QueueDoesNotExist({ message: 'no such queue', $metadata }), 'missing', 'QueueDoesNotExist: no such'],
    [new OverLimit({ message: 'too many in flight', $metadata }), 'busy', 'OverLimit: too many in flight'],
  ] as const)('when receiving: %s', async ([cause, kind, said]) => {
    const { sqs, queue } = mockedQueue();
    sqs.on(ReceiveMessageCommand).rejects(cause);

    const receive = queue.receive({ max: 10, waitSeconds: 0, visibilitySeconds: 30 });

    await expect(receive).rejects.toMatchObject({ failure: { kind }, cause });
    await expect(receive).rejects.toThrow(`receive from ${QUEUE}: ${said}`);
  });

  test('for every call', async () => {
    const { sqs, queue } = mockedQueue();
    sqs.rejects(new ReceiptHandleIsInvalid({ message: 'expired', $metadata }));
    const message = 'ReceiptHandleIsInvalid: expired';

    await expect(queue.send(['a'])).rejects.toThrow(
      `${QUEUE}: sent at least 0 of 1 messages, perhaps not number 1: ${message}`,
    );
    // The error hides the receipt, since anyone could delete the message with it.
    await expect(queue.delete('AQEBsecret')).rejects.toThrow(
      expect.objectContaining({ message: `delete a message from ${QUEUE}: ${message}` }),
    );
    await expect(queue.delay('receipt', 1)).rejects.toThrow(`delay a message on ${QUEUE}: ${message}`);
    await expect(queue.counts()).rejects.toThrow(`count the messages on ${QUEUE}: ${message}`);
  });
});

test('a delay of a day is shortened to one that SQS accepts, however long a deployed worker has held the message', async () => {
  const { sqs, queue } = mockedQueue();
  sqs.on(ChangeMessageVisibilityCommand).resolves({});

  await queue.delay('receipt', 86_400_000);

  const [call] = sqs.commandCalls(ChangeMessageVisibilityCommand);
  expect(call?.args[0].input.VisibilityTimeout).toBe(42_000);
});

describe('over a connection', () => {
  beforeEach(() => void retryAtOnce());
  afterEach(() => vi.restoreAllMocks());

  async function queueOver(...replies: readonly Reply[]) {
    const server = await startServer(...replies);
    const url = `${server.url}/123456789012/jobs`;
    return {
      url,
      queue: createSqsQueue(url, createSqsClient(url, environmentOf(server))),
      requests: server.requests,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  }

  test.for([
    ['throttling', jsonError('ThrottlingException'), 3, 'ThrottlingException: about ThrottlingException'],
    ['throttling by another name', jsonError('RequestThrottled'), 3, 'RequestThrottled: about'],
    ['a failure', jsonError('InternalFailure', 500), 3, 'InternalFailure: about InternalFailure'],
    ['no response', lost, 3, 'ECONNRESET'],
    ['missing rights', jsonError('AccessDeniedException', 403), 1, 'AccessDeniedException: about'],
    ['expired credentials', jsonError('ExpiredTokenException', 403), 1, 'ExpiredTokenException: about'],
    ['a missing queue', jsonError('QueueDoesNotExist'), 1, 'QueueDoesNotExist: about QueueDoesNotExist'],
  ] as const)('%s is reported with the queue', async ([, reply, requests, said]) => {
    await using sqs = await queueOver(reply);

    const receive = sqs.queue.receive({ max: 1, waitSeconds: 0, visibilitySeconds: 30 });

    await expect(receive).rejects.toThrow(`receive from ${sqs.url}: ${said}`);
    expect(sqs.requests).toHaveLength(requests);
  });

  test('a batch whose response was lost is sent again unchanged, and may be on the queue twice', async () => {
    await using sqs = await queueOver(lost, jsonReply({ Successful: [], Failed: [] }));

    await sqs.queue.send(['a', 'b']);

    const [first, second] = sqs.requests;
    expect(sqs.requests).toHaveLength(2);
    expect(second?.body).toBe(first?.body);
  });
});
