import { afterEach, expect, test, vi } from 'vitest';
import { defaultProvider } from '../../functions/environment-credentials.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('a function has the credentials that Lambda puts into its environment', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'an id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a secret');
  vi.stubEnv('AWS_SESSION_TOKEN', 'a session');

  await expect(defaultProvider()()).resolves.toEqual({
    accessKeyId: 'an id',
    secretAccessKey: 'a secret',
    sessionToken: 'a session',
  });
});

test('without credentials in the environment, the error names what is expected', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a secret');

  await expect(defaultProvider()()).rejects.toThrow(
    /^expected AWS_ACCESS_KEY_ID and .* got no access key id$/,
  );
});
