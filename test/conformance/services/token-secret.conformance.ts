import { PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../../lib/cli/command-line.ts';
import { secretsManagerToken } from '../../../lib/platform/secrets-manager-token.ts';
import { codePackages } from '../../../lib/sandbox/platform/functions/packages.ts';
import { type Sandbox, startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { createFakeTerminal } from '../../cli/fake-terminal.ts';
import { createSecret, createSecretsClient } from './create-secret.ts';
import { servicesEnvironment } from './services-environment.ts';

const environment = servicesEnvironment();
const client = createSecretsClient();

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startPlatform({ calculations: 0, datasets: 0, cards: 0, fileSets: 0, dataFiles: 0 });
});

afterAll(async () => {
  client.destroy();
  await sandbox.close();
});

const open = (secretId: string) => secretsManagerToken({ secretId, environment });

test('the token is found by the secret’s name and by its ARN', async () => {
  const { id, arn } = await createSecret({ SecretString: 'the-token\n' });

  expect(await open(id).read()).toBe('the-token');
  expect(await open(arn).read()).toBe('the-token');
});

test('a secret that was changed is read again after a refusal, and not before', async () => {
  const { id } = await createSecret({ SecretString: 'old' });
  const token = open(id);
  await token.read();

  await client.send(new PutSecretValueCommand({ SecretId: id, SecretString: 'new' }));
  const cached = await token.read();
  const mayHelp = token.refused('old');

  expect([cached, mayHelp, await token.read()]).toEqual(['old', true, 'new']);
});

test('a missing secret and a binary one are errors that name it', async () => {
  const { id } = await createSecret({ SecretBinary: Buffer.from('the-token') });

  await expect(open('platform/nobody').read()).rejects.toMatchObject({
    message: expect.stringContaining('read secret platform/nobody: ResourceNotFoundException'),
    failure: { kind: 'missing' },
  });
  await expect(open(id).read()).rejects.toThrow(`secret ${id}: expected the token as text, got binary`);
});

test('a command takes its token from the secret', async () => {
  const { settings } = await createSecret({ SecretString: sandbox.token });
  const { terminal, out } = createFakeTerminal({
    ...environment,
    PLATFORM_BASE_URL: sandbox.url,
    ...settings,
    PLATFORM_RATE: '1000',
  });

  const sum = [
    'call',
    codePackages[0]?.id ?? '',
    '1.0.0',
    'addNumbers',
    '--input',
    '{"first":40,"second":2}',
  ];
  const code = await runCommandLine(sum, terminal);

  expect({ code, out: out() }).toMatchObject({ code: 0, out: expect.stringContaining('42') });
});
