import { randomBytes } from 'node:crypto';
import { createTestTable } from '../base/aws/create-test-table.ts';
import { enginesOf } from '../base/aws/engines.ts';
import type { OffRules } from '../local-aws/documented/layer.ts';
import { startAws } from '../local-aws/services/start-aws.ts';

export type TestDynamo = AsyncDisposable & {
  /** The address on which it listens: `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly environment: Readonly<Record<string, string>>;
  createTable(name: string, keys?: readonly [string, string]): Promise<void>;
  close(): Promise<void>;
};

/**
 * DynamoDB without tables: the local one, or the engine that the runner of the conformance tests names, in a database of
 * its own. `off`: rules of the local one that are off, each with the reason.
 */
export async function startDynamo(off: OffRules = {}): Promise<TestDynamo> {
  const engine = enginesOf(process.env).dynamoDb;
  if (engine !== undefined) return describe(engine.endpoint, async () => {});
  const { endpoint, close } = await startAws({ off });
  return describe(endpoint, close);
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
