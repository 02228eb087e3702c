import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, expect, test } from 'vitest';
import { awsClientConfig } from '../../../lib/base/aws/client-config.ts';
import { parameterStoreToken } from '../../../lib/platform/parameter-store-token.ts';
import { servicesEnvironment, uniqueName } from './services-environment.ts';

const environment = servicesEnvironment();
const client = new SSMClient(
  awsClientConfig(environment, { service: 'SSM', connectionTimeoutMs: 5_000, requestTimeoutMs: 10_000 }),
);

afterAll(() => client.destroy());

const open = (parameter: string) => parameterStoreToken({ parameter, environment });

async function put(
  Value: string,
  { Name = `/acme/${uniqueName('token')}`, Type = 'SecureString' as const } = {},
) {
  await client.send(new PutParameterCommand({ Name, Type, Value, Overwrite: true }));
  return Name;
}

const arnOf = (name: string) => `arn:aws:ssm:us-east-1:123456789012:parameter${name}`;

test('the token is found by the parameter’s ARN and by its name, decrypted', async () => {
  const name = await put('the-token\n');

  expect(await open(arnOf(name)).read()).toBe('the-token');
  expect(await open(name).read()).toBe('the-token');
});

test('a parameter that was changed is read again after a refusal, and not before', async () => {
  const name = await put('old');
  const token = open(arnOf(name));
  await token.read();

  await put('new', { Name: name });
  const cached = await token.read();
  const mayHelp = token.refused('old');

  expect([cached, mayHelp, await token.read()]).toEqual(['old', true, 'new']);
});

test('a missing parameter is an error that names it', async () => {
  const arn = arnOf('/acme/nobody');

  await expect(open(arn).read()).rejects.toMatchObject({
    message: expect.stringContaining(`read parameter ${arn}: ParameterNotFound`),
    failure: { kind: 'missing' },
  });
});
