import { expect, test } from 'vitest';
import { startGateway } from '../local-aws/services/gateway.ts';
import { startExecutions } from '../local-aws/services/start-executions.ts';

test('the gateway refuses a request that is not signed, or is for no known service', async () => {
  await using gateway = await startGateway(() => undefined);
  const authorization = 'AWS4-HMAC-SHA256 Credential=me/20261121/us-east-1/sns/aws4_request, Signature=0';

  const unsigned = await fetch(gateway.endpoint);
  const unknown = await fetch(gateway.endpoint, { headers: { authorization } });

  expect(unsigned.status).toBe(403);
  expect(unknown.status).toBe(501);
  expect(gateway.requests).toEqual([]);
});

test('an execution continues after a step that must be retried, and accepts a token only once', async () => {
  await using executions = await startExecutions();
  const seen: object[] = [];
  const checkpoint = async (token: unknown, update: object) => {
    const url = `${executions.endpoint}/2025-12-01/durable-executions/arn%3Aof%2Fit/checkpoint`;
    const body = JSON.stringify({
      CheckpointToken: token,
      Updates: [{ Id: 'a', Type: 'STEP', Name: 'one', ...update }],
    });
    const response = await fetch(url, { method: 'POST', body });
    return { status: response.status, ...((await response.json()) as { readonly CheckpointToken?: string }) };
  };
  const invoke = async (event: object) => {
    seen.push(event);
    const { CheckpointToken: token } = event as { readonly CheckpointToken: string };
    if (seen.length > 1) return { Status: 'SUCCEEDED', Result: '"done"' };
    const { CheckpointToken: next } = await checkpoint(token, { Action: 'START' });
    expect(await checkpoint(token, { Action: 'RETRY' })).toMatchObject({ status: 400 });
    await checkpoint(next, { Action: 'RETRY' });
    return { Status: 'PENDING' };
  };

  const ended = await executions.run({ arn: 'arn:of/it', input: '{}', invoke });

  expect(ended).toMatchObject({ status: 'SUCCEEDED', result: 'done', invocations: 2, operations: ['one'] });
  expect(seen[1]).toMatchObject({
    UpdatedOperationIds: ['a'],
    InitialExecutionState: { NextMarker: 'others' },
  });
});
