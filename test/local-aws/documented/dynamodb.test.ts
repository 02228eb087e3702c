import { expect, test } from 'vitest';
import { listOf, type Members } from './aws-request.ts';
import { inside, startLayer } from './start-layer.ts';

const TableName = 'table';
const keyOf = (pk: string, sk = '-') => ({ pk: { S: pk }, sk: { S: sk } });

const invalid = (message: string) => ({
  status: 400,
  error: 'ValidationException',
  message: expect.stringContaining(message),
});

test.for([
  ['at the top', (name: string) => ({ [name]: { S: 'x' } })],
  ['in a map', (name: string) => ({ a: { M: { [name]: { S: 'x' } } } })],
  ['in a list', (name: string) => ({ a: { L: [{ S: 'x' }, { M: { [name]: { S: 'x' } } }] } })],
] as const)('the name of an attribute has at most 65,535 bytes: %s', async ([, attributes]) => {
  await using layer = await startLayer({ only: ['dynamodb-attribute-names'] });
  const put = (name: string) =>
    layer.dynamodb('PutItem', { TableName, Item: { ...keyOf('a'), ...attributes(name) } });

  const longest = await put('n'.repeat(65_535));
  const tooLong = await put(`${'n'.repeat(65_534)}é`);

  expect(longest).toMatchObject({ status: 200 });
  expect(tooLong).toMatchObject(invalid('Attribute name is too large'));
});

test('a partition key has at most 2,048 bytes, and a sort key 1,024', async () => {
  await using layer = await startLayer({ only: ['dynamodb-key-sizes'] });
  const put = (pk: string, sk: string) => layer.dynamodb('PutItem', { TableName, Item: keyOf(pk, sk) });
  const get = (pk: string, sk: string) => layer.dynamodb('GetItem', { TableName, Key: keyOf(pk, sk) });

  expect(await put('p'.repeat(2_048), 's'.repeat(1_024))).toMatchObject({ status: 200 });
  expect(await put(`${'p'.repeat(2_047)}é`, 's')).toMatchObject(invalid('Size of hashkey'));
  expect(await get('p', 's'.repeat(1_025))).toMatchObject(invalid('size of all range keys'));
});

test.for([
  ['PutItem', { Item: { ...keyOf('a'), n: { N: '2' } } }],
  ['DeleteItem', { Key: keyOf('a') }],
  ['UpdateItem', { Key: keyOf('a'), UpdateExpression: 'SET x = :n' }],
] as const)('a failed condition of %s returns the item as it is, if asked', async ([operation, members]) => {
  await using layer = await startLayer({ only: ['dynamodb-old-item'] });
  const item = { ...keyOf('a'), n: { N: '1' } };
  await layer.dynamodb('PutItem', { TableName, Item: item });
  const write = (more: Members) =>
    layer.dynamodb(operation, {
      TableName,
      ...members,
      ConditionExpression: 'n = :n',
      ExpressionAttributeValues: { ':n': { N: '7' } },
      ...more,
    });

  const asked = await write({ ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
  const plain = await write({});

  expect(asked).toMatchObject({ status: 400, error: 'ConditionalCheckFailedException', Item: item });
  expect(plain).toMatchObject({ status: 400, error: 'ConditionalCheckFailedException' });
  expect(plain).not.toHaveProperty('Item');
});

test.for(['GetItem', 'Query', 'Scan'])(
  '%s may return what was there before a write of the last second, unless it is to be consistent',
  async (operation) => {
    let nowMs = 0;
    await using layer = await startLayer({ only: ['dynamodb-stale-reads'], now: () => nowMs });
    const put = (n: string) => layer.dynamodb('PutItem', { TableName, Item: { ...keyOf('a'), n: { N: n } } });
    const read = async (ConsistentRead: boolean) => {
      const of = {
        GetItem: { Key: keyOf('a') },
        Query: { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': { S: 'a' } } },
        Scan: {},
      }[operation];
      const { Item, Items }: Members = await layer.dynamodb(operation, { TableName, ConsistentRead, ...of });
      return inside(inside(Item ?? listOf(Items)[0])['n'])['N'];
    };
    const readAll = async (consistent: boolean) => {
      const all = new Set();
      for (let round = 0; round < 12; round += 1) all.add(await read(consistent));
      return [...all].sort();
    };
    await put('1');
    nowMs += 5_000;

    const written = await put('2');

    expect(written).not.toHaveProperty('Attributes');
    expect(await readAll(false)).toEqual(['1', '2']);
    expect(await readAll(true)).toEqual(['2']);
    nowMs += 1_000;
    expect(await readAll(false)).toEqual(['2']);
  },
);

test('an update returns what it was asked for, and its item may be read as it was before', async () => {
  await using layer = await startLayer({ only: ['dynamodb-stale-reads'] });
  await layer.dynamodb('PutItem', { TableName, Item: { ...keyOf('a'), n: { N: '1' } } });

  const updated = await layer.dynamodb('UpdateItem', {
    TableName,
    Key: keyOf('a'),
    UpdateExpression: 'SET n = :n',
    ExpressionAttributeValues: { ':n': { N: '2' } },
    ReturnValues: 'ALL_NEW',
  });
  const seen = new Set();
  for (let round = 0; round < 12; round += 1) {
    const { Item }: Members = await layer.dynamodb('GetItem', { TableName, Key: keyOf('a') });
    seen.add(inside(inside(Item)['n'])['N']);
  }

  expect(updated).toMatchObject({ Attributes: { n: { N: '2' } } });
  expect([...seen].sort()).toEqual(['1', '2']);
});
