import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { sendToEventBridge } from '../../../lib/jobs/event-bridge.ts';
import { createSqsClient, createSqsQueue } from '../../../lib/jobs/queue/sqs-queue.ts';
import { openStoredToken } from '../../../lib/platform/token.ts';
import { lambdaExecutions } from '../../../lib/snapshot/durable/start-execution.ts';
import { createS3Store } from '../../../lib/store/s3.ts';
import { createS3Client } from '../../../lib/store/s3-client.ts';
import { createDynamoTable } from '../../../lib/table/dynamo-table.ts';
import { gluePartitions } from '../../../lib/tables/partitions/glue-partitions.ts';

/*
 * The SDK itself throws here, so the tests show the wording of the version in use. No server listens at `endpoint`, so
 * a request that was sent would fail in another way.
 */
const endpoint = { AWS_ENDPOINT_URL: 'http://127.0.0.1:9' };
const QUEUE = 'http://127.0.0.1:9/0/jobs';
const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'a-secret-key' };
const run = { id: '20261116T090000Z-aaaaaa', startedAt: '2026-11-16T09:00:00.000Z' };
const finished = { id: 'a', type: 'call', status: 'done', result: 'results/a.json' } as const;

type Environment = Readonly<Record<string, string>>;

const sleep = vi.fn(async () => undefined);

const calls: readonly (readonly [string, string, (environment: Environment) => Promise<unknown>])[] = [
  [
    'S3',
    'put a in s3://bucket',
    (environment) =>
      createS3Store({ client: createS3Client(environment), bucket: 'bucket' }).put('a', Buffer.from('x')),
  ],
  [
    'DynamoDB, for rows',
    'put job#a - in table jobs',
    (environment) =>
      createDynamoTable({ tableName: 'jobs', environment, sleep }).put(
        { partition: 'job#a', sort: '-' },
        {},
        { expected: null, token: 't' },
      ),
  ],
  [
    'SQS',
    'http://127.0.0.1:9/0/jobs: sent at least 0 of 1 messages',
    (environment) => createSqsQueue(QUEUE, createSqsClient(QUEUE, environment), { sleep }).send(['a']),
  ],
  [
    'Secrets Manager',
    'read secret platform/token',
    (environment) => openStoredToken({ location: 'platform/token', environment }).read(),
  ],
  [
    'Systems Manager',
    'read parameter arn:aws:ssm:eu-central-1:111122223333:parameter/acme/token',
    (environment) =>
      openStoredToken({
        location: 'arn:aws:ssm:eu-central-1:111122223333:parameter/acme/token',
        environment,
      }).read(),
  ],
  [
    'EventBridge',
    'JobFinished of a to jobs',
    (environment) => sendToEventBridge({ bus: 'jobs', store: 's3://bucket', environment })(finished),
  ],
  [
    'Glue',
    'add the partition 2026-11-16/20261116T090000Z-aaaaaa in sync.stored_calculations',
    (environment) =>
      gluePartitions({ database: 'sync', location: 's3://bucket', environment }).add('calculations', run, {
        changes: null,
      }),
  ],
  [
    'Lambda',
    'start execution a of function:live',
    (environment) =>
      lambdaExecutions({ functionName: 'function:live', environment })({ name: 'a', input: '{}' }),
  ],
];

beforeEach(() => {
  sleep.mockClear();
  const unset = [
    'AWS_REGION',
    'AWS_DEFAULT_REGION',
    'AWS_PROFILE',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
  ];
  for (const name of unset) vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_CONFIG_FILE', '/nonexistent/config');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nonexistent/credentials');
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
});
afterEach(() => vi.unstubAllEnvs());

describe.each([
  [
    'a region',
    { ...endpoint, ...credentials },
    'MissingRegion',
    'an AWS region in AWS_REGION, AWS_DEFAULT_REGION or the profile of AWS_PROFILE',
  ],
  [
    'credentials',
    { ...endpoint, AWS_REGION: 'eu-central-1' },
    'CredentialsProviderError',
    'AWS credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile of AWS_PROFILE or a role',
  ],
])('without %s, the error names the settings for it, and nothing is retried', (_, given, code, expected) => {
  test.for(calls)('%s', async ([, tried, call]) => {
    const failed = call(given);

    await expect(failed).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`${tried}.*: expected ${expected}, got none`)),
      failure: { kind: 'unconfigured', code, expected },
    });
    expect(sleep).not.toHaveBeenCalled();
  });
});
