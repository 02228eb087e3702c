import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createDynamoTable } from '../../lib/table/dynamo-table.ts';
import { environmentOf, jsonError, jsonReply, lost, retryAtOnce } from '../base/aws/replies.ts';
import { page, type Reply, startServer } from '../platform/scripted-server.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

const key = { partition: 'job#a', sort: '-' };

/** A table over a server with these responses in turn; the last one is repeated. */
async function tableOver(...replies: readonly Reply[]) {
  const server = await startServer(...replies);
  const slept: number[] = [];
  const operations = () =>
    server.requests.map(({ headers }) => String(headers['x-amz-target']).replace(/^.*\.(.*)Item$/, '$1'));
  return {
    table: createDynamoTable({
      tableName: 'jobs',
      environment: environmentOf(server),
      sleep: async (ms) => slept.push(ms),
    }),
    operations,
    slept,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe('a temporary failure of DynamoDB is tried four times, and then reported as such', () => {
  const exceeded = 'ProvisionedThroughputExceededException';

  test.for([
    ['too many requests', jsonError(exceeded), `busy, ${exceeded} (about Prov`],
    ['throttling', jsonError('ThrottlingException'), 'busy, ThrottlingException'],
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

test.for([
  ['AccessDeniedException', 'denied, AccessDeniedException (about AccessDeniedException)'],
  ['ItemCollectionSizeLimitExceededException', '400 ItemCollectionSizeLimitExceededException'],
  [
    'ResourceNotFoundException',
    'there is no table jobs: docs/restore.md says how to restore one that was deleted',
  ],
  [
    'ValidationException',
    'expected an ACTIVE table with the strings pk and sk as its keys, got a table with other keys',
  ],
] as const)('a refusal by DynamoDB is not retried: %s', async ([code, message]) => {
  await using dynamo = await tableOver(jsonError(code));

  const put = dynamo.table.put(key, { a: 1 }, { expected: null, token: 't1' });

  await expect(put).rejects.toThrow(`put job#a - in table jobs: ${message}`);
  expect(dynamo.operations()).toEqual(['Put']);
});

test('rows that cannot be listed are an error, not the end of the list', async () => {
  await using dynamo = await tableOver(jsonError('AccessDeniedException'));

  const rows = Array.fromAsync(dynamo.table.list('job#a'));

  await expect(rows).rejects.toThrow('list job#a in table jobs: denied, AccessDeniedException');
});

test('an HTML page is not mistaken for a response from DynamoDB', async () => {
  await using dynamo = await tableOver(page('a portal'));

  const get = dynamo.table.get(key);

  await expect(get).rejects.toMatchObject({ failure: { kind: 'unreachable', code: 'HTTP 200' } });
});

test('if an HTML page was the response to a write, the row shows whether it was stored', async () => {
  const Item = { row: { S: '{}' }, token: { S: 't1' } };
  await using dynamo = await tableOver(page('a portal'), jsonReply({ Item }));

  const put = await dynamo.table.put(key, {}, { expected: null, token: 't1' });

  expect(put).toEqual({ kind: 'stored' });
  expect(dynamo.operations()).toEqual(['Put', 'Get']);
});

describe('a row that the table leaves out of a batch', () => {
  const other = { partition: 'job#b', sort: '-' };
  const item = (pk: string) => ({ pk: { S: pk }, sk: { S: '-' }, row: { S: '{}' }, token: { S: 't1' } });
  const unread = (pk: string) => ({ jobs: { Keys: [{ pk: { S: pk }, sk: { S: '-' } }] } });

  test('is read again', async () => {
    await using dynamo = await tableOver(
      jsonReply({ Responses: { jobs: [item('job#b')] }, UnprocessedKeys: unread('job#a') }),
      jsonReply({ Responses: { jobs: [item('job#a')] }, UnprocessedKeys: {} }),
    );

    const rows = await dynamo.table.getAll([key, other]);

    expect(rows).toEqual([
      { row: {}, token: 't1' },
      { row: {}, token: 't1' },
    ]);
  });

  test('causes the error of a busy table after eight tries', async () => {
    vi.mocked(Math.random).mockReturnValue(0.5);
    await using dynamo = await tableOver(jsonReply({ Responses: {}, UnprocessedKeys: unread('job#a') }));

    await expect(dynamo.table.getAll([key])).rejects.toThrow(
      'get 1 rows in table jobs: busy, UnprocessedKeys',
    );

    expect(dynamo.operations()).toEqual(Array.from({ length: 8 }, () => 'BatchGet'));
    expect(dynamo.slept).toEqual([25, 50, 100, 200, 400, 800, 1_600]);
  });
});
