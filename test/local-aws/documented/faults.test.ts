import { expect, test } from 'vitest';
import { startLayer } from './start-layer.ts';

type Layer = Awaited<ReturnType<typeof startLayer>>;

const ROUNDS = 1_500;
const Key = { pk: { S: 'a' }, sk: { S: 'b' } };

const queueUrl = async ({ sqs }: Layer) => (await sqs('GetQueueUrl', { QueueName: 'jobs' })).error;

async function all<T>(ask: () => Promise<T>): Promise<readonly T[]> {
  const outcomes: T[] = [];
  for (let round = 0; round < ROUNDS; round += 1) outcomes.push(await ask());
  return outcomes;
}

test('a service occasionally refuses a request, never two in a row, and the same ones for the same seed', async () => {
  const errorsOf = async (seed: number) => {
    await using layer = await startLayer({ only: ['sqs-refuses'], seed });
    return await all(() => queueUrl(layer));
  };

  const [errors, same, other] = [await errorsOf(1), await errorsOf(1), await errorsOf(2)];

  const hits = errors.flatMap((error, round) => (error === '' ? [] : [round]));
  const gaps = hits.slice(1).map((round, index) => round - (hits[index] ?? 0));
  expect(new Set(errors.filter(Boolean)).size).toBeGreaterThan(1);
  expect(hits.length).toBeGreaterThan(3);
  expect(Math.min(...gaps)).toBeGreaterThan(100);
  expect(same).toEqual(errors);
  expect(other).not.toEqual(errors);
});

test.for([
  ['s3-refuses', async ({ s3 }: Layer) => (await s3('HEAD', '/bucket')).status, [200, 500, 503]],
  [
    'dynamodb-refuses',
    async ({ dynamodb }: Layer) => (await dynamodb('GetItem', { TableName: 'table', Key })).error,
    ['', 'InternalServerError', 'ProvisionedThroughputExceededException', 'ThrottlingException'],
  ],
  [
    'dynamodb-loses-responses',
    async ({ dynamodb }: Layer) => (await dynamodb('GetItem', { TableName: 'table', Key })).isLost,
    [false, true],
  ],
] as const)('the fault %s happens occasionally, in every documented way', async ([rule, ask, expected]) => {
  await using layer = await startLayer({ only: [rule] });

  const seen = new Set(await all<unknown>(() => ask(layer)));

  expect([...seen].sort()).toEqual(expected);
});

test('SQS loses responses to requests that it has executed, but not to receives, which would hide messages', async () => {
  await using layer = await startLayer({ only: ['sqs-loses-responses'] });

  const sent = await all(() => layer.sqs('SendMessage', { MessageBody: 'm' }));
  const received = await all(() => layer.sqs('ReceiveMessage', { MaxNumberOfMessages: 1 }));

  expect(sent.filter(({ isLost }) => isLost).length).toBeGreaterThan(3);
  expect(received.filter(({ isLost }) => isLost)).toEqual([]);
  expect(received.filter((reply) => 'Messages' in reply)).toHaveLength(ROUNDS);
});

test('S3 loses responses to requests that it has executed', async () => {
  await using layer = await startLayer({ only: ['s3-loses-responses'] });

  const lost: string[] = [];
  for (let round = 0; round < ROUNDS / 3; round += 1)
    if ((await layer.s3('PUT', `/bucket/${round}`, { body: 'x' })).isLost) lost.push(`/bucket/${round}`);

  expect(lost.length).toBeGreaterThan(0);
  expect((await layer.s3('GET', lost[0] ?? '')).body.toString()).toBe('x');
});
