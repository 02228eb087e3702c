import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand, DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { sleep } from '../../../lib/base/async.ts';
import { credentials, REGION } from '../identity.ts';
import { tolerateAbortedRequests } from './aborted-requests.ts';

export type LocalDynamoDb = { readonly endpoint: string; close(): Promise<void> };

/**
 * Starts DynamoDB (dynalite) in this process's memory, on a free loopback port, with these tables. Their keys are `pk`
 * and `sk`, both strings. It has no transactions and no time to live. Throws the error of CreateTable.
 */
export async function startDynamoDb(tables: readonly string[]): Promise<LocalDynamoDb> {
  const server = dynalite({ createTableMs: 0, updateTableMs: 0, deleteTableMs: 0 });
  tolerateAbortedRequests(server);
  // No timeout, since the only client keeps its connections.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const close = () => closeServer(server);
  try {
    await createTables(endpoint, tables);
    return { endpoint, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Creates tables with the keys `pk` and `sk`. Throws the error of CreateTable. */
export async function createTables(
  endpoint: string,
  tables: readonly string[],
  accessKeyId: string = credentials.accessKeyId,
): Promise<void> {
  if (tables.length === 0) return;
  const signer = { ...credentials, accessKeyId };
  const client = new DynamoDBClient({ endpoint, region: REGION, credentials: signer });
  try {
    for (const table of tables) await createTable(client, table);
  } finally {
    client.destroy();
  }
}

async function createTable(client: DynamoDBClient, TableName: string): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  );
  while ((await client.send(new DescribeTableCommand({ TableName }))).Table?.TableStatus !== 'ACTIVE')
    await sleep(5);
}

const SWEEP_MS = 20;
const GRACE_MS = 2_000;

/** Lets requests in flight finish: if its memory is closed during one, dynalite throws where nothing can catch it. */
async function closeServer(server: Server): Promise<void> {
  const closed = Promise.withResolvers<void>();
  server.close((error) => (error ? closed.reject(error) : closed.resolve()));
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  try {
    await closed.promise;
  } finally {
    clearInterval(sweep);
    clearTimeout(cut);
  }
}
