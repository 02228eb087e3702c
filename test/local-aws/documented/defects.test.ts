import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { ChangeMessageVisibilityCommand, SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { describe, expect, test, vi } from 'vitest';
import type { Queue } from '../../../lib/jobs/queue/queue.ts';
import { createSqsClient, createSqsQueue } from '../../../lib/jobs/queue/sqs-queue.ts';
import { moveDeadLetters } from '../../../lib/jobs/redrive.ts';
import { createS3Store } from '../../../lib/store/s3.ts';
import { createS3Client } from '../../../lib/store/s3-client.ts';
import { createDynamoClient } from '../../../lib/table/dynamo-client.ts';
import { lines, startJobs } from '../../cli/start-jobs.ts';
import { type AwsOptions, startAws } from '../services/start-aws.ts';

/*
 * Defects that only showed against real engines, before the rules stood in front of the local AWS. Each test makes the
 * old, naive request, which the rules must defeat, and then ours, which must succeed.
 */

async function startQueues(options: AwsOptions = {}) {
  await using started = new AsyncDisposableStack();
  const aws = started.use(await startAws({ queues: [{ name: 'jobs' }, { name: 'dead' }], ...options }));
  const client = createSqsClient(aws.queueUrl('jobs'), aws.settings);
  started.defer(() => client.destroy());
  const open = (name: string) => createSqsQueue(aws.queueUrl(name), client);
  const running = started.move();
  return {
    client,
    jobsUrl: aws.queueUrl('jobs'),
    jobs: open('jobs'),
    dead: open('dead'),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Receives by short polls until one returns nothing and the counts are 0, as `work --drain` and `redrive` once did. */
async function drainNaively(queue: Queue): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (;;) {
    const messages = await queue.receive({ most: 10, waitSeconds: 0, visibilitySeconds: 30 });
    for (const { body, receipt } of messages) {
      found.add(body);
      await queue.delete(receipt);
    }
    if (messages.length > 0) continue;
    const { waiting, inFlight, delayed } = await queue.counts();
    if (waiting + inFlight + delayed === 0) return found;
  }
}

/** A clock that runs by the requests, so that counts are as late on any machine. */
function createSteadyClock(): () => number {
  let nowMs = 1_000_000;
  return () => {
    nowMs += 0.1;
    return nowMs;
  };
}

const bodies = (count: number) => Array.from({ length: count }, (_, index) => `letter ${index}`);

test('a text with U+FFFE is refused as it is, and sent by us', async () => {
  await using queues = await startQueues();
  const text = 'a\uFFFE\uFFFF\u0000b';
  const raw = new SendMessageBatchCommand({
    QueueUrl: queues.jobsUrl,
    Entries: [{ Id: '0', MessageBody: `{"text":"${text}"}` }],
  });

  const { Failed } = await queues.client.send(raw);
  await queues.jobs.send([`{"text":"${text}"}`]);
  const [message] = await queues.jobs.receive({ most: 1, waitSeconds: 2, visibilitySeconds: 30 });

  expect(Failed).toMatchObject([{ Code: 'InvalidMessageContents', SenderFault: true }]);
  expect(JSON.parse(message?.body ?? '')).toEqual({ text });
});

describe('a drain', () => {
  test('that believes short polls and counts leaves jobs behind, whatever the seed', async () => {
    const found: number[] = [];
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      await using queues = await startQueues({ seed, now: createSteadyClock() });
      await queues.jobs.send(bodies(40));
      found.push((await drainNaively(queues.jobs)).size);
    }

    expect(found.filter((count) => count < 40).length).toBeGreaterThan(3);
  });

  test('of ours leaves none', async () => {
    await using jobs = await startJobs();
    const ids = Array.from({ length: 12 }, (_, index) => `texts-${index}`);
    await jobs.run(
      ['submit', '-'],
      lines(ids.map((id) => ({ type: 'score', id, texts: [{ id: '1', text: 'wonderful' }] }))),
    );

    const { code, out } = await jobs.run(['work', '--drain', '--json']);

    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ done: 12, failed: 0, unknown: 0 });
  });
});

test('a redrive that believes short polls leaves dead letters, and ours moves them all', async () => {
  const letters = bodies(30);
  await using ours = await startQueues();
  await ours.dead.send(letters);

  const found: number[] = [];
  for (const seed of [1, 2, 3, 4]) {
    await using naive = await startQueues({ seed, now: createSteadyClock() });
    await naive.dead.send(letters);
    found.push((await drainNaively(naive.dead)).size);
  }
  const { moved, notMoved } = await moveDeadLetters({
    from: ours.dead,
    to: ours.jobs,
    polls: { waitSeconds: 1, quiet: 1 },
  });
  const left = await ours.dead.receive({ most: 10, waitSeconds: 2, visibilitySeconds: 30 });

  expect(Math.min(...found)).toBeLessThan(30);
  // A letter that is delivered twice is moved twice.
  expect(moved).toBeGreaterThanOrEqual(30);
  expect(notMoved).toEqual([]);
  expect(left.filter(({ receives }) => receives > 1)).toEqual([]);
});

test('12 hours from now are refused for a message that was held, and ours are accepted', async () => {
  await using queues = await startQueues();
  await queues.jobs.send(['job']);
  const [message] = await queues.jobs.receive({ most: 1, waitSeconds: 2, visibilitySeconds: 30 });
  const ReceiptHandle = message?.receipt ?? '';

  await vi.waitFor(async () => {
    const hide = new ChangeMessageVisibilityCommand({
      QueueUrl: queues.jobsUrl,
      ReceiptHandle,
      VisibilityTimeout: 43_200,
    });
    await expect(queues.client.send(hide)).rejects.toThrow('Total VisibilityTimeout');
  });
  await expect(queues.jobs.delay(ReceiptHandle, 86_400_000)).resolves.toBeUndefined();
});

test('a name of 64 KB is refused by the table', async () => {
  await using aws = await startAws({ tables: ['table'] });
  const name = 'n'.repeat(65_536);
  const client = createDynamoClient(aws.settings);
  const raw = new PutItemCommand({
    TableName: 'table',
    Item: { pk: { S: 'a' }, sk: { S: '-' }, [name]: { S: 'x' } },
  });

  await expect(client.send(raw)).rejects.toThrow('Attribute name is too large');
  client.destroy();
});

test('the parts that a killed put left are listed, and aborted by the next large put', async () => {
  const aDayAgo = () => Date.now() - 25 * 60 * 60_000;
  await using aws = await startAws({ buckets: ['bucket'], now: aDayAgo });
  const client = createS3Client(aws.settings);
  const list = async () =>
    (await client.send(new ListMultipartUploadsCommand({ Bucket: 'bucket' }))).Uploads ?? [];
  const place = { Bucket: 'bucket', Key: 'store/killed' };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(place));
  await client.send(new UploadPartCommand({ ...place, UploadId, PartNumber: 1, Body: 'x' }));
  const left = await list();

  await createS3Store({ client, bucket: 'bucket', prefix: 'store' }).put('large', Buffer.alloc(9 << 20));

  expect(left).toMatchObject([{ Key: 'store/killed', UploadId }]);
  await vi.waitFor(async () => expect(await list()).toEqual([]), { timeout: 5_000 });
  client.destroy();
});
