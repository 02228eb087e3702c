import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { secretsManagerToken } from '../../lib/platform/secrets-manager-token.ts';
import { json, startServer } from './scripted-server.ts';

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const environment = (url: string) => ({ AWS_REGION: 'eu-central-1', AWS_ENDPOINT_URL_SECRETS_MANAGER: url });

test('the token is the secret’s text, requested by its id', async () => {
  await using secrets = await startServer(json({ SecretString: 'the-token\n' }));
  const source = secretsManagerToken({ secretId: 'platform/token', environment: environment(secrets.url) });

  const token = await source.read();

  expect(token).toBe('the-token');
  expect(secrets.requests[0]?.headers['x-amz-target']).toBe('secretsmanager.GetSecretValue');
  expect(JSON.parse(secrets.requests[0]?.body ?? '')).toEqual({ SecretId: 'platform/token' });
});

test('after a refusal it is read again', async () => {
  await using secrets = await startServer(json({ SecretString: 'old' }), json({ SecretString: 'new' }));
  const source = secretsManagerToken({ secretId: 'platform/token', environment: environment(secrets.url) });

  const before = await source.read();
  const again = await source.read();
  const mayHelp = source.refused('old');
  const after = await source.read();

  expect([before, again, mayHelp, after]).toEqual(['old', 'old', true, 'new']);
});

test.each([
  ['binary', {}],
  ['nothing', { SecretString: ' ' }],
])('a secret that holds %s is an error that names it', async (got, response) => {
  await using secrets = await startServer(json(response));
  const source = secretsManagerToken({ secretId: 'platform/token', environment: environment(secrets.url) });

  await expect(source.read()).rejects.toThrow(
    `secret platform/token: expected the token as text, got ${got}`,
  );
});
