import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { awsClientConfig, withoutUnusedMiddleware } from '../../../lib/base/aws/index.ts';
import { json, startServer } from '../../platform/scripted-server.ts';

const LIMITS = { service: 'DYNAMODB', connectionTimeoutMs: 1_000, requestTimeoutMs: 5_000 } as const;

test('a client without its unused middleware still signs requests, and asks for new credentials once its own have expired', async () => {
  await using server = await startServer(json({ TableNames: [] }));
  const environment = { AWS_ENDPOINT_URL: server.url, AWS_REGION: 'eu-west-1' };
  let asked = 0;
  const credentials = async () => {
    asked += 1;
    return { accessKeyId: `KEY${asked}`, secretAccessKey: 'x', expiration: new Date(Date.now() - 1_000) };
  };
  const client = withoutUnusedMiddleware(
    new DynamoDBClient({ ...awsClientConfig(environment, LIMITS), credentials }),
  );

  for (let call = 0; call < 2; call += 1) await client.send(new ListTablesCommand({}));

  const signedBy = server.requests.map(
    ({ headers }) => /Credential=(\w+)\//.exec(String(headers['authorization']))?.[1],
  );
  expect(new Set(signedBy).size).toBe(2);
});
