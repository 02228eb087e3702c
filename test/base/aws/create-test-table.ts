import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { readAwsFault } from '../../../lib/base/aws/fault.ts';
import { createDynamoClient } from '../../../lib/table/dynamo-table.ts';

/** Creates a table with two keys, both strings. Throws the error of CreateTable. */
export async function createTestTable(
  name: string,
  environment: Readonly<Record<string, string>>,
  keys: readonly [string, string] = ['pk', 'sk'],
): Promise<void> {
  const client = createDynamoClient(environment);
  const [partition, sort] = keys;
  const command = new CreateTableCommand({
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: keys.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [
      { AttributeName: partition, KeyType: 'HASH' },
      { AttributeName: sort, KeyType: 'RANGE' },
    ],
  });
  try {
    await client.send(command);
  } catch (error) {
    // If the response to an earlier attempt was lost, the table exists already.
    const { code, attempts } = readAwsFault(error);
    if (code !== 'ResourceInUseException' || attempts < 2) throw error;
  } finally {
    client.destroy();
  }
}
