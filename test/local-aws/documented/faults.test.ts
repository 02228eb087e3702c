import { expect, test } from 'vitest';
import { startLayer } from './start-layer.ts';

const ROUNDS = 1_500;

test('SQS now and then refuses a request, never two in a row, and does not execute it', async () => {
  await using layer = await startLayer({ only: ['sqs-refuses'] });

  const errors: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    errors.push((await layer.sqs('GetQueueUrl', { QueueName: 'jobs' })).error);

  const hits = errors.flatMap((error, round) => (error === '' ? [] : [round]));
  const gaps = hits.slice(1).map((round, index) => round - (hits[index] ?? 0));
  expect(new Set(errors.filter(Boolean)).size).toBeGreaterThan(1);
  expect(hits.length).toBeGreaterThan(3);
  expect(hits.length).toBeLessThan(13);
  expect(Math.min(...gaps)).toBeGreaterThan(100);
});

test('SQS loses responses of requests that it has executed, but none that would hide messages', async () => {
  await using layer = await startLayer({ only: ['sqs-loses-responses'] });

  let lost = 0;
  for (let round = 0; round < ROUNDS; round += 1)
    if ((await layer.sqs('SendMessage', { MessageBody: 'm' })).isLost) lost += 1;
  const receives = [];
  for (let round = 0; round < ROUNDS; round += 1)
    receives.push(await layer.sqs('ReceiveMessage', { MaxNumberOfMessages: 1 }));

  expect(lost).toBeGreaterThan(3);
  expect(receives.filter(({ isLost }) => isLost)).toEqual([]);
  expect(receives.filter((reply) => 'Messages' in reply)).toHaveLength(ROUNDS);
});

test('S3 now and then asks to slow down, or fails', async () => {
  await using layer = await startLayer({ only: ['s3-refuses'] });

  const statuses = new Set<number>();
  for (let round = 0; round < ROUNDS; round += 1) statuses.add((await layer.s3('HEAD', '/bucket')).status);

  expect([...statuses].sort()).toEqual([200, 500, 503]);
});

test('S3 loses responses of requests that it has executed', async () => {
  await using layer = await startLayer({ only: ['s3-loses-responses'] });

  const lost: string[] = [];
  for (let round = 0; round < ROUNDS / 3; round += 1)
    if ((await layer.s3('PUT', `/bucket/${round}`, { body: 'x' })).isLost) lost.push(`/bucket/${round}`);

  expect(lost.length).toBeGreaterThan(0);
  expect((await layer.s3('GET', lost[0] ?? '')).body.toString()).toBe('x');
});

test('DynamoDB now and then throttles, fails, and loses responses', async () => {
  await using layer = await startLayer({ only: ['dynamodb-refuses', 'dynamodb-loses-responses'] });
  const key = { pk: { S: 'a' }, sk: { S: 'b' } };

  const seen = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const { error, isLost } = await layer.dynamodb('GetItem', { TableName: 'table', Key: key });
    seen.add(isLost ? 'lost' : error);
  }

  expect([...seen].sort()).toEqual([
    '',
    'InternalServerError',
    'ProvisionedThroughputExceededException',
    'ThrottlingException',
    'lost',
  ]);
});

test('the same seed does the same again, another one something else', async () => {
  const run = async (seed: number) => {
    await using layer = await startLayer({ only: ['sqs-refuses'], seed });
    const errors: string[] = [];
    for (let round = 0; round < 500; round += 1)
      errors.push((await layer.sqs('GetQueueUrl', { QueueName: 'jobs' })).error);
    return errors;
  };

  const [first, same, other] = [await run(1), await run(1), await run(2)];

  expect(same).toEqual(first);
  expect(other).not.toEqual(first);
});
