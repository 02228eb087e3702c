import {
  DecryptionFailure,
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
  SecretsManagerServiceException,
} from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { secretsManagerToken } from '../../lib/platform/secrets-manager-token.ts';
import { environmentOf, jsonError, jsonReply, lost, retryAtOnce } from '../base/aws/replies.ts';
import { type Reply, startServer } from './scripted-server.ts';

const secretId = 'platform/token';
const $metadata = { httpStatusCode: 400 };

describe('an error of the client names the secret', () => {
  const mockSecrets = () => mockClient(SecretsManagerClient);
  let secrets: ReturnType<typeof mockSecrets>;

  beforeEach(() => {
    secrets = mockSecrets();
  });

  afterEach(() => secrets.restore());

  test.for([
    [
      new ResourceNotFoundException({ message: 'not found', $metadata }),
      { kind: 'missing', code: 'ResourceNotFoundException' },
      'ResourceNotFoundException: not found',
    ],
    [
      new DecryptionFailure({ message: 'no such key', $metadata }),
      { kind: 'other', code: 'DecryptionFailure' },
      'DecryptionFailure: no such key',
    ],
    [
      new SecretsManagerServiceException({
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
    secrets.on(GetSecretValueCommand).rejects(cause);
    const source = secretsManagerToken({ secretId, environment: {} });

    const read = source.read();

    await expect(read).rejects.toMatchObject({
      name: 'AwsError',
      message: `read secret platform/token: ${reported}`,
      failure,
      cause,
    });
  });

  test('a binary secret has no text, and its bytes appear in no message', async () => {
    secrets.on(GetSecretValueCommand).resolves({ SecretBinary: Buffer.from('the-token') });
    const source = secretsManagerToken({ secretId, environment: {} });

    const error = await source.read().catch((thrown: unknown) => thrown);

    expect(String(error)).toBe('Error: secret platform/token: expected the token as text, got binary');
  });

  test('after a failure the next read tries again', async () => {
    secrets
      .on(GetSecretValueCommand)
      .rejectsOnce(new DecryptionFailure({ message: 'no such key', $metadata }))
      .resolves({ SecretString: 'the-token' });
    const source = secretsManagerToken({ secretId, environment: {} });

    const first = await source.read().catch(() => 'failed');
    const second = await source.read();

    expect([first, second]).toEqual(['failed', 'the-token']);
  });
});

describe('over a connection', () => {
  beforeEach(() => void retryAtOnce());
  afterEach(() => vi.restoreAllMocks());

  async function sourceOver(...replies: readonly Reply[]) {
    const server = await startServer(...replies);
    return {
      source: secretsManagerToken({ secretId, environment: environmentOf(server) }),
      requests: server.requests,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  }

  test.for([
    ['throttling', jsonError('ThrottlingException'), 'ThrottlingException: about ThrottlingException'],
    ['an internal error', jsonError('InternalServiceError', 500), 'InternalServiceError: about'],
    ['no response', lost, 'ECONNRESET'],
  ] as const)('%s is tried three times', async ([, reply, reported]) => {
    await using secrets = await sourceOver(reply);

    const read = secrets.source.read();

    await expect(read).rejects.toThrow(`read secret platform/token: ${reported}`);
    expect(secrets.requests).toHaveLength(3);
  });

  test('temporary throttling goes unnoticed', async () => {
    await using secrets = await sourceOver(
      jsonError('ThrottlingException'),
      jsonReply({ SecretString: 'the-token' }),
    );

    expect(await secrets.source.read()).toBe('the-token');
  });

  test('expired credentials are denied immediately', async () => {
    await using secrets = await sourceOver(jsonError('ExpiredTokenException'));

    const read = secrets.source.read();

    await expect(read).rejects.toMatchObject({ failure: { kind: 'denied', code: 'ExpiredTokenException' } });
    expect(secrets.requests).toHaveLength(1);
  });
});
