import { expect, test } from 'vitest';
import type { Members } from './aws-request.ts';
import { startLayer } from './start-layer.ts';

const TableName = 'table';
const keyOf = (pk: string, sk = '-') => ({ pk: { S: pk }, sk: { S: sk } });

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
