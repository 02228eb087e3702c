import { setTimeout as delay } from 'node:timers/promises';
import {
  ChangeMessageVisibilityCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { createSqsClient, createSqsQueue } from '../../../lib/jobs/queue/sqs-queue.ts';
import { startTestAws } from '../../base/aws/start-test-aws.ts';

/*
 * The limits of SQS that the program stays within are exceeded here on purpose, past the program: an engine that does
 * not have one shows nothing about it, and is named in the known differences.
 */

async function startQueue() {
  await using started = new AsyncDisposableStack();
  const aws = started.use(await startTestAws({ queues: [{ name: 'jobs' }] }));
  const client = createSqsClient(aws.queueUrl('jobs'), aws.settings);
  started.defer(async () => client.destroy());
  const running = started.move();
  return { client, QueueUrl: aws.queueUrl('jobs'), [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** A message that was received, and held for a while. */
async function holdMessage({ client, QueueUrl }: Awaited<ReturnType<typeof startQueue>>): Promise<string> {
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a' }));
  const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5 }));
  await delay(1_100);
  return Messages[0]?.ReceiptHandle ?? '';
}

test.for([
  ['U+FFFE', '\uFFFE'],
  ['U+FFFF', '\uFFFF'],
  ['U+0001', '\u0001'],
] as const)('a message with %s is refused', async ([, character]) => {
  await using queue = await startQueue();
  const { client, QueueUrl } = queue;

  const sent = client.send(new SendMessageCommand({ QueueUrl, MessageBody: `a${character}` }));

  await expect(sent).rejects.toThrow();
});

test('a text with characters above U+FFFF arrives unchanged', async () => {
  await using queue = await startQueue();
  const { client, QueueUrl } = queue;
  const body = '{"text":"\u{1F600}\u{10000}\u{10FFFF}"}';

  await createSqsQueue(QueueUrl, client).send([body]);

  const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5 }));
  expect(Messages).toMatchObject([{ Body: body }]);
});

test('a message may be hidden for 12 hours at a time', async () => {
  await using queue = await startQueue();
  const { client, QueueUrl } = queue;
  const ReceiptHandle = await holdMessage(queue);

  const hidden = client.send(
    new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 43_201 }),
  );

  await expect(hidden).rejects.toThrow();
});

test('the 12 hours count from when it was received', async () => {
  await using queue = await startQueue();
  const { client, QueueUrl } = queue;
  const ReceiptHandle = await holdMessage(queue);

  const hidden = client.send(
    new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 43_200 }),
  );

  await expect(hidden).rejects.toThrow('43200');
});
