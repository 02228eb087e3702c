import type { PutItemCommandInput } from '@aws-sdk/client-dynamodb';

/** What makes a write conditional. */
type Condition = Pick<
  PutItemCommandInput,
  | 'ConditionExpression'
  | 'ExpressionAttributeNames'
  | 'ExpressionAttributeValues'
  | 'ReturnValuesOnConditionCheckFailure'
>;

/** A write whose condition fails returns the row in its way, which saves a read. */
const RETURNED = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

/** The condition of a put: it replaces the row with this token, or no row at all. */
export const onlyOver = (expected: string | null): Condition =>
  expected === null
    ? {
        ...RETURNED,
        ConditionExpression: 'attribute_not_exists(#pk)',
        ExpressionAttributeNames: { '#pk': 'pk' },
      }
    : {
        ...RETURNED,
        ConditionExpression: '#token = :expected',
        ExpressionAttributeNames: { '#token': 'token' },
        ExpressionAttributeValues: { ':expected': { S: expected } },
      };

/** The condition of a delete. */
export const absentOrWith = (expected: string) => ({
  ...RETURNED,
  ConditionExpression: 'attribute_not_exists(#pk) OR #token = :expected',
  ExpressionAttributeNames: { '#pk': 'pk', '#token': 'token' },
  ExpressionAttributeValues: { ':expected': { S: expected } },
});

/** All rows of a partition. */
export const queryOf = (tableName: string, partition: string) => ({
  TableName: tableName,
  ConsistentRead: true,
  KeyConditionExpression: '#pk = :pk',
  ExpressionAttributeNames: { '#pk': 'pk' },
  ExpressionAttributeValues: { ':pk': { S: partition } },
});

/** All rows whose partition starts with `prefix`. */
export const scanOf = (tableName: string, prefix: string) => ({
  TableName: tableName,
  ConsistentRead: true,
  // DynamoDB does not accept an empty text as an operand.
  ...(prefix === ''
    ? {}
    : {
        FilterExpression: 'begins_with(#pk, :prefix)',
        ExpressionAttributeNames: { '#pk': 'pk' },
        ExpressionAttributeValues: { ':prefix': { S: prefix } },
      }),
});
