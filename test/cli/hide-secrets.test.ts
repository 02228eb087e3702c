import { describe, expect, test } from 'vitest';
import { hideSecrets } from '../../lib/cli/terminal/hide-secrets.ts';
import { cpuMs } from '../cpu-time.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand } from './run-command.ts';

const folder = folderOfEach();

const SETTINGS = {
  PLATFORM_TOKEN: 'token"of\\the-platform',
  AWS_SECRET_ACCESS_KEY: 'secret/key+of-aws==',
  AWS_SESSION_TOKEN: 'session-token-of-aws',
  HTTPS_PROXY: 'http://somebody:pass%2Fword%40home@proxy.example.com:3128',
};
const PASSWORD = 'pass/word@home';

describe('hideSecrets', () => {
  test.each([
    ['the token', 'token"of\\the-platform'],
    ['the token in JSON', JSON.stringify('token"of\\the-platform')],
    ['the token in an address', encodeURIComponent('token"of\\the-platform')],
    ['a secret key', 'secret/key+of-aws=='],
    ['a session token', 'session-token-of-aws'],
    ['a password', PASSWORD],
    ['a password as it is written in the setting', 'pass%2Fword%40home'],
    ['a password as it is sent in a header', Buffer.from(`somebody:${PASSWORD}`).toString('base64')],
    ['a URL with a password', `http://somebody:${PASSWORD}@proxy.example.com:3128`],
  ])('hides %s', (_, secret) => {
    const shown = hideSecrets(SETTINGS)(`connect to ${secret}: failed`);

    expect(shown).toMatch(/^connect to .*\*\*\*.*: failed$/);
    expect(shown).not.toMatch(/of.the|of-aws|word|home|c29tZWJvZHk/);
  });

  test('hides the user information of any URL, and nothing else', () => {
    const hide = hideSecrets({});

    expect(hide('GET https://a:b@host/path and http://c@d/, mail to x@y.z')).toBe(
      'GET https://***@host/path and http://***@d/, mail to x@y.z',
    );
  });

  test('does not hide short secrets, since they occur in other words', () => {
    expect(hideSecrets({ PLATFORM_TOKEN: 'test' })('a test')).toBe('a test');
  });

  test('hides secrets in the longest message without a noticeable delay', async () => {
    const message = `${'a'.repeat(20_000)}${'x://'.repeat(11_000)}@`;

    expect(await cpuMs(() => hideSecrets(SETTINGS)(message))).toBeLessThan(2_000);
  });
});

test('a command that fails prints no secret of its settings', async () => {
  const environment = {
    PLATFORM_BASE_URL: 'https://acme.example.com',
    PLATFORM_TOKEN_SECRET: 'https://somebody:password-typed@host/secret',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret-key-of-aws',
    SYNC_STORE: folder.path,
    LOG_LEVEL: 'trace',
  };

  const { code, err } = await runCommand(
    ['call', '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403', '1.0.0', 'f'],
    environment,
  );

  expect(code).toBe(1);
  expect(err).toContain('read secret https://***@host/secret');
  expect(err).not.toMatch(/password-typed|secret-key/);
});
