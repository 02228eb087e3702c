import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AwsEnvironment } from '../../../lib/base/aws/client-config.ts';
import { readAwsFault } from '../../../lib/base/aws/fault.ts';
import { createSqsClient } from '../../../lib/jobs/queue/sqs-queue.ts';
import { createS3Client } from '../../../lib/store/s3-client.ts';
import { createDynamoClient } from '../../../lib/table/dynamo-table.ts';
import { silence, startServer } from '../../platform/scripted-server.ts';
import { environmentOf, retryAtOnce } from './replies.ts';

const budgetClient = (environment: AwsEnvironment) => createDynamoClient(environment, { attempts: 2 });
const sqsClient = (environment: AwsEnvironment) => createSqsClient('http://127.0.0.1/1/jobs', environment);

beforeEach(() => {
  retryAtOnce();
  vi.stubEnv('AWS_MAX_ATTEMPTS', undefined);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test.for([
  ['S3', createS3Client, 3],
  ['SQS', sqsClient, 3],
  ['the table', createDynamoClient, 4],
  ['the budget', budgetClient, 2],
] as const)('the client of %s makes a bounded number of attempts', async ([, createClient, attempts]) => {
  const { config } = createClient(environmentOf({ url: 'http://127.0.0.1' }));

  expect(await config.maxAttempts()).toBe(attempts);
});

test('the environment may set the number of attempts of every client except the budget’s', async () => {
  vi.stubEnv('AWS_MAX_ATTEMPTS', '7');
  const environment = environmentOf({ url: 'http://127.0.0.1' });

  expect(await createS3Client(environment).config.maxAttempts()).toBe(7);
  expect(await budgetClient(environment).config.maxAttempts()).toBe(2);
});

test('an attempt ends by itself if the service never responds', async () => {
  await using server = await startServer(silence);
  const client = createDynamoClient(environmentOf(server), { attempts: 3, timeoutMs: 50 });

  const error = await client
    .send(new GetItemCommand({ TableName: 'jobs', Key: { pk: { S: 'a' } } }))
    .catch((thrown) => thrown);

  expect(readAwsFault(error)).toMatchObject({ code: 'ETIMEDOUT', status: undefined, attempts: 3 });
  expect(server.requests).toHaveLength(3);
});
