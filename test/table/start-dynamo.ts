import { randomBytes } from 'node:crypto';
import { createTestTable } from '../base/aws/create-test-table.ts';
import { enginesOf } from '../base/aws/engines.ts';
import type { OffRules } from '../local-aws/documented/layer.ts';
import { startAws } from '../local-aws/services/start-aws.ts';

export type TestDynamo = AsyncDisposable & {
  /** The address of the server: `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly environment: Readonly<Record<string, string>>;
  createTable(name: string, keys?: readonly [string, string]): Promise<void>;
  close(): Promise<void>;
};

/**
 * Starts DynamoDB without tables: the local one, or a new database in the engine that the conformance runner names.
 * `off`: the rules of the local one that do not apply, each with a reason.
 */
export async function startDynamo(off: OffRules = {}): Promise<TestDynamo> {
  const engine = enginesOf(process.env).dynamoDb;
  if (engine !== undefined) return describe(engine.endpoint, async () => {});
  const { endpoint, close } = await startAws({ off });
  return describe(endpoint, close);
}

function describe(endpoint: string, close: () => Promise<void>): TestDynamo {
  // DynamoDB Local has one database for each access key.
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
