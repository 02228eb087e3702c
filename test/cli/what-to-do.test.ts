import { expect, test } from 'vitest';
import { AwsError } from '../../lib/base/aws/fault.ts';
import { remedyFor } from '../../lib/cli/errors/explain.ts';
import type { PlatformFailure } from '../../lib/platform/failure.ts';
import { PlatformError } from '../../lib/platform/platform-error.ts';
import { SnapshotStoppedError } from '../../lib/snapshot/run/snapshot-stopped-error.ts';
import { StoreError, type StoreFailure } from '../../lib/store/error.ts';
import { TableError, type TableFailure } from '../../lib/table/table-error.ts';

const QUEUE = 'https://sqs.eu-central-1.amazonaws.com/123456789012/jobs';

const environment = {
  PLATFORM_BASE_URL: 'https://acme.example.com',
  PLATFORM_TOKEN_SECRET: 'sync/token',
  SYNC_STORE: 's3://acme-sync',
  SYNC_TABLE: 'sync',
  SYNC_QUEUE_URL: QUEUE,
  AWS_REGION: 'eu-central-1',
};

const platform = (failure: PlatformFailure) =>
  new PlatformError(failure, {
    operation: 'listCards',
    about: 'cards',
    host: 'acme.example.com',
    attempts: 1,
  });
const store = (failure: StoreFailure) => new StoreError('put a', failure);
const table = (failure: TableFailure) => new TableError('read a', failure);
const aws = (tried: string, code: string) =>
  new AwsError(
    'queue',
    tried,
    Object.assign(new Error('no'), { name: code, $metadata: { httpStatusCode: 400 } }),
  );
const unavailable = (tried: string) =>
  new AwsError('queue', tried, Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));

const REGION = 'it must be in eu-central-1 (AWS_REGION) of the account of your credentials';

test.each<[string, unknown, string | undefined]>([
  [
    'a platform that is unavailable',
    platform({ kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' }),
    'check PLATFORM_BASE_URL (https://acme.example.com), and that this machine can reach it',
  ],
  [
    'a handshake that never ends',
    platform({ kind: 'timeout', phase: 'tls', timeoutMs: 8_000 }),
    'check PLATFORM_BASE_URL (https://acme.example.com), and that this machine can reach it',
  ],
  ['a connection that broke', platform({ kind: 'connection', phase: 'exchange', code: 'EPIPE' }), undefined],
  [
    'a refused token',
    platform({ kind: 'status', status: 401 }),
    'check the token in the secret sync/token (PLATFORM_TOKEN_SECRET)',
  ],
  ['a refused request', platform({ kind: 'status', status: 404 }), undefined],
  [
    'a missing bucket',
    store({ kind: 'missing', what: 'bucket' }),
    `create the bucket, or change SYNC_STORE: ${REGION}`,
  ],
  ['a missing object', store({ kind: 'missing', what: 'object' }), undefined],
  [
    'a denied store',
    store({ kind: 'denied', code: 'AccessDenied' }),
    'check that your AWS credentials are valid, and that they permit access to the value of SYNC_STORE',
  ],
  [
    'a store that is unavailable',
    store({ kind: 'unreachable', code: 'ENOTFOUND' }),
    'check that this machine can reach the endpoint in eu-central-1 (AWS_REGION)',
  ],
  [
    'a full disk',
    store({ kind: 'full', code: 'ENOSPC' }),
    'free some space (see df -h, df -i or quota): platform-sync prune --keep 1 deletes old runs; what has been stored stays valid',
  ],
  [
    'a read-only store',
    store({ kind: 'read-only', code: 'EROFS' }),
    'set SYNC_STORE to a folder that can be written to',
  ],
  [
    'a missing table',
    table({ kind: 'bad-table', table: 'sync', expected: 'a table', got: 'none' }),
    `create the table, or change SYNC_TABLE: ${REGION}`,
  ],
  [
    'a missing secret',
    aws('read secret sync/token', 'ResourceNotFoundException'),
    `create the secret, or change PLATFORM_TOKEN_SECRET: ${REGION}`,
  ],
  [
    'a secret that may not be read',
    aws('read secret sync/token', 'AccessDeniedException'),
    'check that your AWS credentials are valid, and that they permit access to the value of PLATFORM_TOKEN_SECRET',
  ],
  [
    'a missing queue',
    aws(`receive from ${QUEUE}`, 'QueueDoesNotExist'),
    `create the queue, or change SYNC_QUEUE_URL: ${REGION}`,
  ],
  [
    'a queue that is unavailable',
    unavailable(`receive from ${QUEUE}`),
    'check SYNC_QUEUE_URL; check that this machine can reach the endpoint in eu-central-1 (AWS_REGION)',
  ],
  ['what no setting names', aws('do something', 'QueueDoesNotExist'), undefined],
  ['any other error', new Error('no'), undefined],
])('the advice is right for %s', (_, error, advice) => {
  expect(remedyFor(error, environment)).toBe(advice);
});

test('the advice also follows from the cause of an error, and from the first of several errors', () => {
  const cause = store({ kind: 'full', code: 'ENOSPC' });

  const stopped = new SnapshotStoppedError('files', 'run', new AggregateError([cause, new Error('other')]));

  expect(remedyFor(stopped, environment)).toContain('free some space');
});

test('the advice names the setting of an endpoint or a proxy, without its password', () => {
  const given = {
    ...environment,
    AWS_ENDPOINT_URL_SQS: 'https://me:secret@sqs.example.com',
    HTTPS_PROXY: 'http://me:secret@proxy:3128',
  };

  expect(remedyFor(unavailable(`receive from ${QUEUE}`), given)).toBe(
    'check SYNC_QUEUE_URL; check that this machine can reach https://***@sqs.example.com (from AWS_ENDPOINT_URL_SQS), through the proxy http://proxy:3128 (from HTTPS_PROXY or ALL_PROXY)',
  );
});

test('a folder that may not be written to causes no advice about AWS', () => {
  const denied = store({ kind: 'denied', code: 'EACCES' });

  expect(remedyFor(denied, { SYNC_STORE: './data' })).toBe(
    'check that you may read and write there, or change SYNC_STORE',
  );
});
