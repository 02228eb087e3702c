import {
  GetParameterCommand,
  InvalidKeyId,
  ParameterNotFound,
  SSMClient,
  SSMServiceException,
} from '@aws-sdk/client-ssm';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parameterStoreToken } from '../../lib/platform/parameter-store-token.ts';
import { environmentOf, jsonError, jsonReply, lost, retryAtOnce } from '../base/aws/replies.ts';
import { type Reply, startServer } from './scripted-server.ts';

const parameter = 'arn:aws:ssm:eu-central-1:111122223333:parameter/acme/token';
const $metadata = { httpStatusCode: 400 };

const secure = (Value: string) => ({ Parameter: { Type: 'SecureString' as const, Value } });

describe('over a connection', () => {
  beforeEach(() => void retryAtOnce());
  afterEach(() => vi.restoreAllMocks());

  async function sourceOver(...replies: readonly Reply[]) {
    const server = await startServer(...replies);
    return {
      source: parameterStoreToken({ parameter, environment: environmentOf(server) }),
      requests: server.requests,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  }

  test('the token is the parameter’s text, decrypted, requested by its ARN', async () => {
    await using parameters = await sourceOver(jsonReply(secure('the-token\n')));

    const token = await parameters.source.read();

    expect(token).toBe('the-token');
    expect(parameters.requests[0]?.headers['x-amz-target']).toBe('AmazonSSM.GetParameter');
    expect(JSON.parse(parameters.requests[0]?.body ?? '')).toEqual({ Name: parameter, WithDecryption: true });
  });

  test('after a refusal it is read again, and not before', async () => {
    await using parameters = await sourceOver(jsonReply(secure('old')), jsonReply(secure('new')));
    const { source } = parameters;

    const before = await source.read();
    const again = await source.read();
    const mayHelp = source.refused('old');
    const after = await source.read();

    expect([before, again, mayHelp, after]).toEqual(['old', 'old', true, 'new']);
  });

  test.for([
    ['throttling', jsonError('ThrottlingException'), 'ThrottlingException: about ThrottlingException'],
    ['an internal error', jsonError('InternalServerError', 500), 'InternalServerError: about'],
    ['no response', lost, 'ECONNRESET'],
  ] as const)('%s is tried three times', async ([, reply, reported]) => {
    await using parameters = await sourceOver(reply);

    const read = parameters.source.read();

    await expect(read).rejects.toThrow(`read parameter ${parameter}: ${reported}`);
    expect(parameters.requests).toHaveLength(3);
  });

  test('temporary throttling goes unnoticed', async () => {
    await using parameters = await sourceOver(
      jsonError('ThrottlingException'),
      jsonReply(secure('the-token')),
    );

    expect(await parameters.source.read()).toBe('the-token');
  });

  test('expired credentials are denied immediately', async () => {
    await using parameters = await sourceOver(jsonError('ExpiredTokenException'));

    const read = parameters.source.read();

    await expect(read).rejects.toMatchObject({ failure: { kind: 'denied', code: 'ExpiredTokenException' } });
    expect(parameters.requests).toHaveLength(1);
  });
});

describe('an error names the parameter', () => {
  const mockParameters = () => mockClient(SSMClient);
  let parameters: ReturnType<typeof mockParameters>;

  beforeEach(() => {
    parameters = mockParameters();
  });

  afterEach(() => parameters.restore());

  test.for([
    [
      new ParameterNotFound({ message: 'not found', $metadata }),
      { kind: 'missing', code: 'ParameterNotFound' },
      'ParameterNotFound: not found',
    ],
    [
      new InvalidKeyId({ message: 'no such key', $metadata }),
      { kind: 'other', code: 'InvalidKeyId' },
      'InvalidKeyId: no such key',
    ],
    [
      new SSMServiceException({
        name: 'AccessDeniedException',
        message: 'not authorized',
        $fault: 'client',
        $metadata,
      }),
      { kind: 'denied', code: 'AccessDeniedException' },
      'AccessDeniedException: not authorized',
    ],
    [
      Object.assign(new Error('no credentials'), { name: 'CredentialsProviderError' }),
      { kind: 'denied', code: 'CredentialsProviderError' },
      'CredentialsProviderError: no credentials',
    ],
  ] as const)('%s', async ([cause, failure, reported]) => {
    parameters.on(GetParameterCommand).rejects(cause);
    const source = parameterStoreToken({ parameter, environment: {} });

    const read = source.read();

    await expect(read).rejects.toMatchObject({
      name: 'AwsError',
      message: `read parameter ${parameter}: ${reported}`,
      failure,
      cause,
    });
  });

  test.for([
    ['of a text that is not encrypted', { Type: 'String', Value: 'the-token' }, 'a SecureString, got String'],
    ['of a list', { Type: 'StringList', Value: 'the-token,b' }, 'a SecureString, got StringList'],
    ['of nothing', undefined, 'a SecureString, got nothing'],
    ['of spaces', { Type: 'SecureString', Value: ' ' }, 'the token as text, got nothing'],
    ['without a text', { Type: 'SecureString' }, 'the token as text, got nothing'],
  ] as const)('%s, which appears in no message', async ([, found, expected]) => {
    parameters.on(GetParameterCommand).resolves(found === undefined ? {} : { Parameter: found });
    const source = parameterStoreToken({ parameter, environment: {} });

    const error = await source.read().catch((thrown: unknown) => thrown);

    expect(String(error)).toBe(`Error: parameter ${parameter}: expected ${expected}`);
  });

  test('after a failure the next read tries again', async () => {
    parameters
      .on(GetParameterCommand)
      .rejectsOnce(new InvalidKeyId({ message: 'no such key', $metadata }))
      .resolves(secure('the-token'));
    const source = parameterStoreToken({ parameter, environment: {} });

    const first = await source.read().catch(() => 'failed');
    const second = await source.read();

    expect([first, second]).toEqual(['failed', 'the-token']);
  });
});
