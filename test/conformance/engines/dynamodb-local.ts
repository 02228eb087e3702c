import { join } from 'node:path';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Engine } from './engine.ts';
import { byMaven } from './fetch.ts';

const VERSION = '2.6.1';

/** AWS's own DynamoDB emulator. It has a separate database for each access key. */
export const dynamoDbLocal: Engine = {
  name: 'DynamoDB Local',
  version: VERSION,
  java: 17,
  fetch: byMaven({ group: 'com.amazonaws', artifact: 'DynamoDBLocal', version: VERSION }),
  start: ({ fetched, port }) => ({
    command: [
      'java',
      `-Djava.library.path=${join(fetched, 'lib')}`,
      ...['-cp', join(fetched, 'lib', '*'), join(import.meta.dirname, 'DynamoDbLocal.java')],
      ...['-inMemory', '-disableTelemetry', '-port', String(port)],
    ],
    engines: { dynamoDb: { endpoint: `http://127.0.0.1:${port}` } },
    warmUp: () => warmUp(`http://127.0.0.1:${port}`),
  }),
};

/** Number of warm-up rounds: on a busy machine the first request takes seconds, the fiftieth 10 ms. */
const ROUNDS = 50;

async function warmUp(endpoint: string): Promise<void> {
  // A separate database, which no test sees.
  const credentials = { accessKeyId: 'warm', secretAccessKey: 'warm' };
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });
  const TableName = 'warm';
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    }),
  );
  const Key = { pk: { S: 'a' } };
  for (let round = 0; round < ROUNDS; round += 1) {
    await client.send(
      new UpdateItemCommand({
        ...{ TableName, Key },
        UpdateExpression: 'SET #n = :n',
        ConditionExpression: 'attribute_not_exists(#n) OR #n < :n',
        ExpressionAttributeNames: { '#n': 'n' },
        ExpressionAttributeValues: { ':n': { N: String(round) } },
      }),
    );
    await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  }
  await client.send(new DeleteTableCommand({ TableName }));
  client.destroy();
}
