import { expect, test } from 'vitest';
import { HandlerError } from '../local-aws/functions/invocation.ts';
import { startGateway } from '../local-aws/services/gateway.ts';
import { startExecutions } from '../local-aws/services/start-executions.ts';

test('the gateway refuses a request that is not signed, or is for an unknown service', async () => {
  await using gateway = await startGateway({ endpointOf: () => undefined });
  const authorization = 'AWS4-HMAC-SHA256 Credential=me/20261121/us-east-1/sns/aws4_request, Signature=0';

  const unsigned = await fetch(gateway.endpoint);
  const unknown = await fetch(gateway.endpoint, { headers: { authorization } });

  expect(unsigned.status).toBe(403);
  expect(unknown.status).toBe(501);
  expect(gateway.requests).toEqual([]);
});

test('an execution continues after a step that must be retried, and accepts each checkpoint token only once', async () => {
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

const died = () => new HandlerError('invoke', 'f', { kind: 'died', exit: 'signal SIGKILL' });

test('an execution is invoked again after a crash, and its waits take as long as requested', async () => {
  await using executions = await startExecutions();
  const outputs: (object | undefined)[] = [undefined, { Status: 'PENDING' }, { Status: 'SUCCEEDED' }];
  const [begun, slept]: [string[], number[]] = [[], []];
  const invoke = async (event: object) => {
    const { CheckpointToken } = event as { readonly CheckpointToken: string };
    const output = outputs.shift();
    const url = `${executions.endpoint}/2025-12-01/durable-executions/arn%3Aof%2Fit/checkpoint`;
    const step = { Id: 'a', Type: 'STEP', Name: 'slice-1', Action: output === undefined ? 'START' : 'RETRY' };
    const Updates = [{ ...step, StepOptions: { NextAttemptDelaySeconds: 60 } }];
    await fetch(url, { method: 'POST', body: JSON.stringify({ CheckpointToken, Updates }) });
    if (output === undefined) throw died();
    return output;
  };

  const ended = await executions.run({
    ...{ arn: 'arn:of/it', input: '{}', invoke, onStep: (name) => begun.push(name) },
    sleep: async (ms) => slept.push(ms),
  });

  expect(ended).toMatchObject({ status: 'SUCCEEDED', invocations: 3 });
  expect(begun).toEqual(['slice-1']);
  expect(slept).toEqual([expect.toSatisfy((ms: number) => ms > 50_000 && ms <= 60_000)]);
});

test('an execution is not invoked forever if its invocations fail, or crash without storing anything', async () => {
  await using executions = await startExecutions();
  let invocations = 0;
  const failing = (error: Error) =>
    executions.run({
      ...{ arn: 'arn:of/it', input: '{}' },
      invoke: async () => {
        invocations += 1;
        throw error;
      },
    });

  await expect(failing(died())).rejects.toThrow('SIGKILL');
  expect(invocations).toBe(5);
  await expect(failing(new TypeError('a fault'))).rejects.toThrow('a fault');
  expect(invocations).toBe(6);
});
