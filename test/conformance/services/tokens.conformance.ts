import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, describe, expect, test } from 'vitest';
import { awsClientConfig } from '../../../lib/base/aws/client-config.ts';
import { openStoredToken } from '../../../lib/platform/token.ts';
import { codePackages } from '../../../lib/sandbox/platform/functions/packages.ts';
import { startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { runCommand, settingsOf } from '../../cli/run-command.ts';
import { createSecret, createSecretsClient } from './create-secret.ts';
import { servicesEnvironment, uniqueName } from './services-environment.ts';

const environment = servicesEnvironment();
const secrets = createSecretsClient();
const parameters = new SSMClient(
  awsClientConfig(environment, { service: 'SSM', connectionTimeoutMs: 5_000, requestTimeoutMs: 10_000 }),
);

afterAll(() => {
  secrets.destroy();
  parameters.destroy();
});

const putParameter = (Name: string, Value: string) =>
  parameters.send(new PutParameterCommand({ Name, Type: 'SecureString', Value, Overwrite: true }));
const arnOf = (name: string) => `arn:aws:ssm:us-east-1:123456789012:parameter${name}`;

/** The services that may hold a token: how to store one under a new name, and the message if it is missing. */
const places = {
  secret: {
    open: (secretId: string) => openStoredToken({ location: secretId, environment }),
    create: createSecret,
    change: (SecretId: string, SecretString: string) =>
      secrets.send(new PutSecretValueCommand({ SecretId, SecretString })),
    missing: ['platform/nobody', 'ResourceNotFoundException'],
  },
  parameter: {
    // The ARN is used, since the plain name would be taken for that of a secret.
    open: (parameter: string) =>
      openStoredToken({
        location: parameter.startsWith('arn:') ? parameter : arnOf(parameter),
        environment,
      }),
    async create(value: string) {
      const id = `/acme/${uniqueName('token')}`;
      await putParameter(id, value);
      return { id, arn: arnOf(id) };
    },
    change: putParameter,
    missing: [arnOf('/acme/nobody'), 'ParameterNotFound'],
  },
} as const;

describe.each(Object.entries(places))('the token in a %s', (kind, { open, create, change, missing }) => {
  test('is found by its name and by its ARN, as text', async () => {
    const { id, arn } = await create('the-token\n');

    expect(await open(id).read()).toBe('the-token');
    expect(await open(arn).read()).toBe('the-token');
  });

  test('is read again once the platform has refused it, and not before', async () => {
    const { id } = await create('old');
    const token = open(id);
    await token.read();

    await change(id, 'new');
    const cached = await token.read();
    const mayHelp = token.refused('old');

    expect([cached, mayHelp, await token.read()]).toEqual(['old', true, 'new']);
  });

  test('is named in the error if it is missing', async () => {
    const [name, error] = missing;

    await expect(open(name).read()).rejects.toMatchObject({
      message: expect.stringContaining(`read ${kind} ${name}: ${error}`),
      failure: { kind: 'missing' },
    });
  });
});

test('a command takes its token from the secret', async () => {
  await using store = await mkdtempDisposable(join(tmpdir(), 'platform-sync-tokens-'));
  await using sandbox = await startPlatform({ calculations: 0, datasets: 0, cards: 0, dataFiles: 0 });
  const { settings } = await createSecret(sandbox.token);
  const { PLATFORM_TOKEN: _, ...others } = settingsOf(sandbox, store.path);
  const add = ['call', codePackages[0]?.id ?? '', '1.0.0', 'addNumbers'];

  const { code, out } = await runCommand([...add, '--input', '{"first":40,"second":2}'], {
    ...environment,
    ...others,
    ...settings,
  });

  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('42') });
});
