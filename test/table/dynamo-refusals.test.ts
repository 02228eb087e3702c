import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createDynamoTable } from '../../lib/table/dynamo-table.ts';
import { environmentOf, jsonError, jsonReply, lost, retryAtOnce } from '../base/aws/replies.ts';
import { page, type Reply, startServer } from '../platform/scripted-server.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

const key = { partition: 'job#a', sort: '-' };

/** A table over a server that gives the replies in turn, and the last one forever. */
async function tableOver(...replies: readonly Reply[]) {
  const server = await startServer(...replies);
  const operations = () =>
    server.requests.map(({ headers }) => String(headers['x-amz-target']).replace(/^.*\.(.*)Item$/, '$1'));
  return {
    table: createDynamoTable({
      tableName: 'jobs',
      environment: environmentOf(server),
      sleep: async () => undefined,
    }),
    operations,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe('a temporary failure of DynamoDB is tried four times, and then reported as what it is', () => {
  test.for([
    ['ProvisionedThroughputExceededException', 'busy, ProvisionedThroughputExceededException (about Prov'],
    ['ThrottlingException', 'busy, ThrottlingException'],
    ['RequestLimitExceeded', 'busy, RequestLimitExceeded'],
    ['ReplicatedWriteConflictException', 'busy, ReplicatedWriteConflictException'],
  ] as const)('%s', async ([code, message]) => {
    await using dynamo = await tableOver(jsonError(code));

    const get = dynamo.table.get(key);

    await expect(get).rejects.toThrow(`get job#a - in table jobs: ${message}`);
    expect(dynamo.operations()).toEqual(['Get', 'Get', 'Get', 'Get']);
  });

  test.for([
    ['an internal error', jsonError('InternalServerError', 500), 'busy, InternalServerError'],
    ['a page of a proxy', page('bad gateway', 502), 'busy, HTTP 502'],
    ['no response', lost, 'unreachable, ECONNRESET'],
  ] as const)('%s', async ([, reply, message]) => {
    await using dynamo = await tableOver(reply);

    const get = dynamo.table.get(key);

    await expect(get).rejects.toThrow(`get job#a - in table jobs: ${message}`);
    expect(dynamo.operations()).toEqual(['Get', 'Get', 'Get', 'Get']);
  });
});

describe('a refusal by DynamoDB is not retried', () => {
  test.for([
    ['AccessDeniedException', 'denied, AccessDeniedException (about AccessDeniedException)'],
    ['ExpiredTokenException', 'denied, ExpiredTokenException'],
    ['UnrecognizedClientException', 'denied, UnrecognizedClientException'],
    ['KMSAccessDeniedException', 'denied, KMSAccessDeniedException'],
    ['TransactionConflictException', 'busy, TransactionConflictException'],
    ['ItemCollectionSizeLimitExceededException', '400 ItemCollectionSizeLimitExceededException'],
    ['ResourceNotFoundException', 'expected a table with the strings pk and sk as its keys, got none'],
  ] as const)('%s', async ([code, message]) => {
    await using dynamo = await tableOver(jsonError(code));

    const put = dynamo.table.put(key, { a: 1 }, { expected: null, token: 't1' });

    await expect(put).rejects.toThrow(`put job#a - in table jobs: ${message}`);
    expect(dynamo.operations()).toEqual(['Put']);
  });
});

describe('a refusal that may be due to the keys is explained by the description of the table', () => {
  // As DynamoDB Local words it, and no other.
  const refused = jsonReply(
    {
      __type: 'com.amazon.coral.validate#ValidationException',
      message: 'One of the required keys was not given a value',
    },
    400,
  );
  const described = (...keys: readonly (readonly [string, string, string])[]) =>
    jsonReply({
      Table: {
        KeySchema: keys.map(([AttributeName, KeyType]) => ({ AttributeName, KeyType })),
        AttributeDefinitions: keys.map(([AttributeName, , AttributeType]) => ({
          AttributeName,
          AttributeType,
        })),
      },
    });
  const needed = 'expected a table with the strings pk and sk as its keys, got one with the keys';

  test.for([
    [
      'other names',
      [
        ['id', 'HASH', 'S'],
        ['part', 'RANGE', 'S'],
      ],
      `${needed} id (HASH, S) and part (RANGE, S)`,
    ],
    [
      'another type',
      [
        ['pk', 'HASH', 'S'],
        ['sk', 'RANGE', 'N'],
      ],
      `${needed} pk (HASH, S) and sk (RANGE, N)`,
    ],
    ['no sort key', [['pk', 'HASH', 'S']], `${needed} pk (HASH, S)`],
    [
      'exchanged',
      [
        ['sk', 'HASH', 'S'],
        ['pk', 'RANGE', 'S'],
      ],
      `${needed} sk (HASH, S) and pk (RANGE, S)`,
    ],
  ] as const)('%s', async ([, keys, message]) => {
    await using dynamo = await tableOver(refused, described(...keys));

    const get = dynamo.table.get(key);

    await expect(get).rejects.toThrow(`get job#a - in table jobs: ${message}`);
  });

  test('the keys are right: the refusal is reported as it came', async () => {
    await using dynamo = await tableOver(refused, described(['pk', 'HASH', 'S'], ['sk', 'RANGE', 'S']));

    const get = dynamo.table.get(key);

    await expect(get).rejects.toMatchObject({
      message:
        'get job#a - in table jobs: 400 ValidationException (One of the required keys was not given a value)',
      failure: { kind: 'other', code: '400 ValidationException' },
    });
  });

  test('the description is denied: the refusal is reported, and that the keys could not be checked', async () => {
    await using dynamo = await tableOver(refused, jsonError('AccessDeniedException'));

    const get = dynamo.table.get(key);

    await expect(get).rejects.toMatchObject({
      message:
        'get job#a - in table jobs: 400 ValidationException (One of the required keys was not given a value); ' +
        'whether its keys are the strings pk and sk could not be checked (DescribeTable: AccessDeniedException)',
      failure: { kind: 'other', code: '400 ValidationException', unchecked: 'AccessDeniedException' },
    });
  });

  test('a table is described once, however many calls fail', async () => {
    await using dynamo = await tableOver(refused, described(['id', 'HASH', 'S']), refused);

    await expect(dynamo.table.get(key)).rejects.toThrow('got one with the keys id (HASH, S)');
    await expect(dynamo.table.delete(key, 't')).rejects.toThrow('got one with the keys id (HASH, S)');

    expect(dynamo.operations()).toEqual(['Get', 'DynamoDB_20120810.DescribeTable', 'Delete']);
  });

  test('a description that failed is asked for again: a process may live for weeks', async () => {
    await using dynamo = await tableOver(
      refused,
      jsonError('AccessDeniedException'),
      refused,
      described(['id', 'HASH', 'S']),
    );

    await expect(dynamo.table.get(key)).rejects.toThrow('could not be checked');
    await expect(dynamo.table.get(key)).rejects.toThrow('got one with the keys id (HASH, S)');
  });

  test('nothing else asks for the description, which the deployed roles may not read', async () => {
    await using dynamo = await tableOver(jsonError('ConditionalCheckFailedException'), jsonReply({}));

    await dynamo.table.put(key, {}, { expected: 't0', token: 't1' });

    expect(dynamo.operations()).toEqual(['Put', 'Get']);
  });
});

test('a page is not mistaken for a response from DynamoDB', async () => {
  await using dynamo = await tableOver(page('a portal'));

  const get = dynamo.table.get(key);

  await expect(get).rejects.toMatchObject({ failure: { kind: 'unreachable', code: 'HTTP 200' } });
});

test('an item that is not a row is an error, but the table is not unreachable', async () => {
  await using dynamo = await tableOver(jsonReply({ Item: { pk: { S: 'job#a' }, sk: { S: '-' } } }));

  const get = dynamo.table.get(key);

  await expect(get).rejects.toMatchObject({
    message: 'get job#a - in table jobs: Error (expected an item with a token, got one without)',
    failure: { kind: 'other' },
  });
});
