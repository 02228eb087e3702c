import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createTestTable } from '../aws/create-test-table.ts';
import { enginesOf } from '../aws/engines.ts';

// dynalite has no types.
const dynalite: (options: { readonly createTableMs: number }) => Server = createRequire(import.meta.url)(
  'dynalite',
);

export type TestDynamo = AsyncDisposable & {
  /** Where it listens: `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly environment: Readonly<Record<string, string>>;
  createTable(name: string, keys?: readonly [string, string]): Promise<void>;
  close(): Promise<void>;
};

/**
 * DynamoDB without tables: dynalite in this process, on a free port of the loopback interface, or the engine that the
 * runner of the conformance tests names, in a database of its own.
 */
export async function startDynamo(): Promise<TestDynamo> {
  const engine = enginesOf(process.env).dynamoDb;
  if (engine !== undefined) return describe(engine.endpoint, async () => {});
  const server = dynalite({ createTableMs: 0 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return describe(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
}

function describe(endpoint: string, close: () => Promise<void>): TestDynamo {
  // DynamoDB Local holds a database for each access key.
  const credentials = { accessKeyId: randomBytes(10).toString('hex'), secretAccessKey: 'local' };
  const environment = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  return {
    endpoint,
    credentials,
    environment,
    createTable: (name, keys) => createTestTable(name, environment, keys),
    close,
    [Symbol.asyncDispose]: close,
  };
}
