import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, test } from 'vitest';
import { createDynamoClient, createDynamoTable } from '../../lib/table/dynamo-table.ts';
import type { OnDate } from '../../lib/table/open-table.ts';
import { startDynamo } from './start-dynamo.ts';

let tables = 0;

const dynamo = await startDynamo();

afterAll(() => dynamo.close());

async function newTable(keys?: readonly [string, string]): Promise<string> {
  tables += 1;
  await dynamo.createTable(`table-${tables}`, keys);
  return `table-${tables}`;
}

const open = (tableName: string) => createDynamoTable({ tableName, environment: dynamo.environment });

const key = { partition: 'job#a', sort: '-' };

describe('in DynamoDB', () => {
  test('a row is an item with its JSON, its keys, its token and its expiry in seconds', async () => {
    const tableName = await newTable();

    const { environment } = dynamo;
    const onDate: OnDate = (listener) => listener({ dateMs: 1_000, sentMs: 0, receivedMs: 0 });
    const table = createDynamoTable({ tableName, environment, onDate });
    await table.put(key, { state: 'SENT' }, { expected: null, token: 't1', lifetimeMs: 500_000 });
    const { Item } = await createDynamoClient(dynamo.environment).send(
      new GetItemCommand({ TableName: tableName, Key: { pk: { S: 'job#a' }, sk: { S: '-' } } }),
    );

    expect(Item).toEqual({
      pk: { S: 'job#a' },
      sk: { S: '-' },
      row: { S: '{"state":"SENT"}' },
      token: { S: 't1' },
      expires: { N: expect.stringMatching(/^50[2-5]$/) },
    });
  });

  test.each([{}, { row: { S: '{}' } }, { token: { S: 't' } }])(
    'an invalid item is not returned as a row: %j',
    async (item) => {
      const tableName = await newTable();
      const table = open(tableName);
      await createDynamoClient(dynamo.environment).send(
        new PutItemCommand({ TableName: tableName, Item: { pk: { S: 'job#a' }, sk: { S: '-' }, ...item } }),
      );

      expect(await Array.fromAsync(table.scan(''))).toEqual([]);
      expect(await table.get(key)).toBeUndefined();
    },
  );

  test('a missing table is named by every call', async () => {
    const table = open('no-such-table');
    const calls = [
      () => table.get(key),
      () => table.put(key, {}, { expected: null, token: 't' }),
      () => table.delete(key, 't'),
      () => Array.fromAsync(table.list('a')),
      () => Array.fromAsync(table.scan('a')),
    ];

    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ name: 'TableError', failure: { kind: 'bad-table' } });
      await expect(call()).rejects.toThrow(
        'in table no-such-table: there is no table no-such-table: docs/restore.md says how',
      );
    }
  });

  test('a table with other keys is reported as such by every call', async () => {
    const tableName = await newTable(['id', 'part']);
    const table = open(tableName);
    const calls = [
      () => table.get(key),
      () => table.put(key, {}, { expected: null, token: 't' }),
      () => table.delete(key, 't'),
      () => Array.fromAsync(table.list('a')),
    ];

    for (const call of calls)
      await expect(call()).rejects.toMatchObject({
        failure: { kind: 'bad-table', got: 'a table with other keys' },
      });
  });

  test('every read is consistent: it sees all earlier writes', async () => {
    const tableName = await newTable();
    const client = createDynamoClient(dynamo.environment);
    const reads: unknown[] = [];
    client.middlewareStack.add(
      (next) => (args) => {
        reads.push(JSON.stringify(args.input).includes('"ConsistentRead":true'));
        return next(args);
      },
      { step: 'initialize' },
    );
    const table = createDynamoTable({ tableName, environment: dynamo.environment, client });

    await table.get(key);
    await table.getAll([key]);
    await Array.fromAsync(table.list('a'));
    await Array.fromAsync(table.scan('a'));

    expect(reads).toEqual([true, true, true, true]);
  });
});
