import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createDynamoTable } from '../../lib/table/dynamo-table.ts';
import { environmentOf, jsonError, jsonReply, lost, retryAtOnce } from '../base/aws/replies.ts';
import { type Reply, startServer } from '../platform/scripted-server.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

const key = { partition: 'job#a', sort: '-' };
const ours = { expected: null, token: 'ours' };

/** A table over a server that gives the replies in turn, and the last one forever; the client is the deployed one. */
async function tableOver(...replies: readonly Reply[]) {
  const server = await startServer(...replies);
  const operations = () =>
    server.requests.map(({ headers }) => String(headers['x-amz-target']).replace(/^.*\.(.*)Item$/, '$1'));
  const slept: number[] = [];
  const sleep = async (ms: number) => slept.push(ms);
  return {
    table: createDynamoTable({ tableName: 'jobs', environment: environmentOf(server), sleep }),
    operations,
    slept,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const rowOf = (token: string) =>
  jsonReply({ Item: { pk: { S: 'job#a' }, sk: { S: '-' }, row: { S: '{}' }, token: { S: token } } });
const noRow = jsonReply({});
const refused = jsonError('ConditionalCheckFailedException');
const throttled = jsonError('ThrottlingException');
const failed = jsonError('InternalServerError', 500);

test('a write that fails its own condition after an error 500 is stored', async () => {
  await using dynamo = await tableOver(failed, refused, rowOf('ours'));

  const result = await dynamo.table.put(key, {}, ours);

  expect(result).toEqual({ kind: 'stored' });
});

describe('a throttled write', () => {
  test('was not made: it is sent four times, and no row is read', async () => {
    await using dynamo = await tableOver(throttled);

    const put = dynamo.table.put(key, {}, ours);

    await expect(put).rejects.toMatchObject({ failure: { kind: 'busy', code: 'ThrottlingException' } });
    expect(dynamo.operations()).toEqual(['Put', 'Put', 'Put', 'Put']);
    expect(dynamo.slept).toEqual([]);
  });

  test('may have been made if an earlier response was lost: the row decides', async () => {
    await using dynamo = await tableOver(lost, throttled, throttled, throttled, rowOf('ours'));

    const result = await dynamo.table.put(key, {}, ours);

    expect(result).toEqual({ kind: 'stored' });
    expect(dynamo.operations()).toEqual(['Put', 'Put', 'Put', 'Put', 'Get']);
  });
});

test('a delete that is refused after an error 500 is checked', async () => {
  await using dynamo = await tableOver(failed, jsonError('AccessDeniedException'), noRow);

  const result = await dynamo.table.delete(key, 'ours');

  expect(result).toEqual({ kind: 'stored' });
  expect(dynamo.operations()).toEqual(['Delete', 'Delete', 'Get']);
});

test('a write to a table that always fails ends after three rounds of four writes and four reads', async () => {
  await using dynamo = await tableOver(failed);

  const put = dynamo.table.put(key, {}, ours);

  await expect(put).rejects.toMatchObject({ failure: { kind: 'busy', code: 'InternalServerError' } });
  expect(dynamo.operations()).toHaveLength(24);
  expect(dynamo.slept).toEqual([100, 200]);
});
