import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { sendToEventBridge } from '../../../lib/jobs/event-bridge.ts';
import { openStoredToken } from '../../../lib/platform/token.ts';
import { lambdaExecutions } from '../../../lib/snapshot/durable/start-execution.ts';
import { type Reply, startServer } from '../../platform/scripted-server.ts';
import { environmentOf, jsonError, jsonReply, lost, retryAtOnce } from './replies.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

type Environment = ReturnType<typeof environmentOf>;

type Called = {
  /** The action as its errors name it. */
  readonly tried: string;
  readonly call: (environment: Environment) => Promise<unknown>;
  readonly done: Reply;
};

const parameter = 'arn:aws:ssm:eu-central-1:111122223333:parameter/acme/token';
const finished = { id: 'j1', type: 'score', status: 'done', result: 'results/score/j1.json' } as const;

/** The services whose errors are an `AwsError`, except SQS, whose requests are batches. */
const services: Readonly<Record<string, Called>> = {
  'Secrets Manager': {
    tried: 'read secret platform/token',
    call: (environment) => openStoredToken({ location: 'platform/token', environment }).read(),
    done: jsonReply({ SecretString: 'the-token' }),
  },
  'Systems Manager': {
    tried: `read parameter ${parameter}`,
    call: (environment) => openStoredToken({ location: parameter, environment }).read(),
    done: jsonReply({ Parameter: { Type: 'SecureString', Value: 'the-token' } }),
  },
  EventBridge: {
    tried: 'JobFinished of j1 to default',
    call: (environment) => sendToEventBridge({ bus: 'default', store: 's3://sync', environment })(finished),
    done: jsonReply({ FailedEntryCount: 0, Entries: [{ EventId: 'e1' }] }),
  },
  Lambda: {
    tried: 'start execution calculations-0123 of snapshot:live',
    call: (environment) =>
      lambdaExecutions({ functionName: 'snapshot:live', environment })({
        name: 'calculations-0123',
        input: '{"source":"calculations"}',
      }),
    done: jsonReply({}, 202),
  },
};

describe.each(Object.entries(services))('%s', (_, { tried, call, done }) => {
  test.for([
    ['throttling', jsonError('ThrottlingException'), 3, 'busy', 'ThrottlingException: about Throttling'],
    ['no response', lost, 3, 'unreachable', 'ECONNRESET'],
    ['no permission', jsonError('AccessDeniedException'), 1, 'denied', 'AccessDeniedException: about Access'],
    [
      'nothing there',
      jsonError('ResourceNotFoundException'),
      1,
      'missing',
      'ResourceNotFoundException: about',
    ],
    ['a key', jsonError('InvalidKeyId'), 1, 'denied', 'InvalidKeyId: about InvalidKeyId'],
    ['anything else', jsonError('InvalidInput'), 1, 'other', 'InvalidInput: about InvalidInput'],
  ] as const)(
    'reports %s with an error that says what was tried',
    async ([, reply, requests, kind, said]) => {
      await using server = await startServer(reply);

      const called = call(environmentOf(server));

      await expect(called).rejects.toMatchObject({
        name: 'AwsError',
        message: expect.stringContaining(`${tried}: ${said}`),
        failure: { kind },
        cause: expect.any(Error),
      });
      expect(server.requests).toHaveLength(requests);
    },
  );

  test('hides temporary throttling', async () => {
    await using server = await startServer(jsonError('ThrottlingException'), done);

    await call(environmentOf(server));

    expect(server.requests).toHaveLength(2);
  });
});
