import { InvokeCommand, LambdaClient, ResourceConflictException } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lambdaExecutions } from '../../../lib/snapshot/durable/start-execution.ts';
import { environmentOf, jsonError, lost, retryAtOnce } from '../../base/aws/replies.ts';
import { bytes, type Reply, silence, startServer } from '../../platform/scripted-server.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

const functionName = 'snapshot:live';
const execution = { name: 'calculations-0123', input: '{"source":"calculations"}' };
const started = bytes('', {}, 202);

async function lambdaOver(...replies: readonly Reply[]) {
  const server = await startServer(...replies);
  return {
    start: lambdaExecutions({ functionName, environment: environmentOf(server) }),
    requests: server.requests,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test('an execution whose start got no response is started again under the same name', async () => {
  await using lambda = await lambdaOver(lost, started);

  await lambda.start(execution);

  const names = lambda.requests.map(({ headers }) => headers['x-amz-durable-execution-name']);
  expect(names).toEqual(['calculations-0123', 'calculations-0123']);
});

test('an execution that was started before, with any input, counts as started', async () => {
  await using lambda = await lambdaOver(jsonError('DurableExecutionAlreadyStartedException', 409));

  await lambda.start(execution);

  expect(lambda.requests).toHaveLength(1);
});

test('any other conflict is an error', async () => {
  const cause = new ResourceConflictException({
    message: 'being created',
    $metadata: { httpStatusCode: 409 },
  });
  const lambda = mockClient(LambdaClient);
  lambda.on(InvokeCommand).rejects(cause);
  const start = lambdaExecutions({ functionName, environment: {} });

  const conflict = start(execution).finally(() => lambda.restore());

  await expect(conflict).rejects.toMatchObject({ name: 'AwsError', failure: { kind: 'busy' }, cause });
});

test('the caller’s abort is rethrown', async () => {
  await using lambda = await lambdaOver(silence);
  const stop = new AbortController();

  const start = lambda.start(execution, stop.signal);
  stop.abort(new Error('the lease was lost'));

  await expect(start).rejects.toThrow(/^the lease was lost$/);
});
