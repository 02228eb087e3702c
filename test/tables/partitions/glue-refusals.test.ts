import {
  AlreadyExistsException,
  CreatePartitionCommand,
  GetTableCommand,
  GlueClient,
  GlueServiceException,
} from '@aws-sdk/client-glue';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Run } from '../../../lib/snapshot/keys.ts';
import { gluePartitions } from '../../../lib/tables/partitions/glue-partitions.ts';
import { environmentOf, jsonError, lost, retryAtOnce } from '../../base/aws/replies.ts';
import { type Reply, startServer } from '../../platform/scripted-server.ts';

const monday: Run = { id: '20261116T090000Z-aaaaaa', startedAt: '2026-11-16T09:00:00.000Z' };
const ADD = 'add the partition 2026-11-16/20261116T090000Z-aaaaaa in sync.stored_calculations';
const REMOVE = 'remove the partition 2026-11-16/20261116T090000Z-aaaaaa in sync.stored_calculations';
const given = { database: 'sync', location: 's3://bucket/sync' };

const $metadata = { httpStatusCode: 400 };
const there = new AlreadyExistsException({ message: 'there', $metadata });

describe('if the client for Glue throws', () => {
  const mockGlue = () => mockClient(GlueClient);
  let glue: ReturnType<typeof mockGlue>;

  beforeEach(() => {
    glue = mockGlue();
    glue.onAnyCommand().resolves({});
    glue.on(GetTableCommand).resolves({ Table: { Name: 'calculations' } });
  });

  afterEach(() => glue.restore());

  const partitions = () => gluePartitions({ ...given, environment: {} });
  const sent = () => glue.calls().map(({ args: [command] }) => command.constructor.name);

  test('because a partition exists, the partition is updated', async () => {
    glue.on(CreatePartitionCommand).rejects(there);

    await partitions().add('calculations', monday, { changes: null });

    expect(sent()).toEqual([
      'GetTableCommand',
      'CreatePartitionCommand',
      'UpdatePartitionCommand',
      'DeletePartitionCommand',
    ]);
  });

  test.for([
    ['EntityNotFoundException', 'missing'],
    ['AccessDeniedException', 'denied'],
    ['ExpiredTokenException', 'denied'],
    ['UnrecognizedClientException', 'denied'],
    ['ResourceNumberLimitExceededException', 'other'],
  ] as const)('%s, the error is reported as %s', async ([name, kind]) => {
    const cause = new GlueServiceException({ name, message: 'so', $fault: 'client', $metadata });
    glue.on(CreatePartitionCommand).rejects(cause);

    const add = partitions().add('calculations', monday, { changes: null });

    await expect(add).rejects.toMatchObject({
      name: 'AwsError',
      message: `${ADD}: ${name}: so`,
      failure: { kind, code: name },
      cause,
    });
  });

  test.for([
    ['a missing region', new Error('Region is missing'), { kind: 'unconfigured', code: 'MissingRegion' }],
    [
      'missing credentials',
      Object.assign(new Error('none'), { name: 'CredentialsProviderError' }),
      { kind: 'denied' },
    ],
  ] as const)('because of %s, the error does not blame the table', async ([, cause, failure]) => {
    glue.on(GetTableCommand).rejects(cause);

    const add = partitions().add('calculations', monday, { changes: null });

    await expect(add).rejects.toMatchObject({ message: expect.stringContaining(`${ADD}: `), failure });
  });
});

describe('over a connection to Glue', () => {
  beforeEach(() => void retryAtOnce());
  afterEach(() => vi.restoreAllMocks());

  async function glueOver(...replies: readonly Reply[]) {
    const server = await startServer(...replies);
    return {
      ...gluePartitions({ ...given, environment: environmentOf(server) }),
      operations: () => server.requests.map(({ headers }) => headers['x-amz-target']),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  }

  test.for([
    ['throttling', jsonError('ThrottlingException'), 'ThrottlingException: about ThrottlingException'],
    ['a failure', jsonError('InternalServiceException', 500), 'InternalServiceException: about Int'],
    ['no response', lost, 'ECONNRESET'],
  ] as const)('%s is tried three times', async ([, reply, said]) => {
    await using glue = await glueOver(reply);

    const remove = glue.remove('calculations', monday);

    await expect(remove).rejects.toThrow(`${REMOVE}: ${said}`);
    expect(glue.operations()).toHaveLength(3);
  });
});
