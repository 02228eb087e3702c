import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { createDynamoClient } from '../../lib/table/dynamo-client.ts';

// dynalite has no types.
const dynalite: (options: { readonly createTableMs: number }) => Server = createRequire(import.meta.url)(
  'dynalite',
);

export type LocalDynamo = AsyncDisposable & {
  readonly environment: Readonly<Record<string, string>>;
  createTable(name: string, keys?: readonly [string, string]): Promise<void>;
  close(): Promise<void>;
};

/** DynamoDB in this process, on a free port of the loopback interface. */
export async function startDynalite(): Promise<LocalDynamo> {
  const server = dynalite({ createTableMs: 0 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const environment = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  };
  const client = createDynamoClient(environment);
  const close = async () => {
    client.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    environment,
    createTable: async (name, [partition, sort] = ['pk', 'sk']) => {
      await client.send(
        new CreateTableCommand({
          TableName: name,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [partition, sort].map((each) => ({
            AttributeName: each,
            AttributeType: 'S',
          })),
          KeySchema: [
            { AttributeName: partition, KeyType: 'HASH' },
            { AttributeName: sort, KeyType: 'RANGE' },
          ],
        }),
      );
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
