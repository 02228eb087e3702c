import { expect, test } from 'vitest';
import { parameterStoreToken } from '../../lib/platform/parameter-store-token.ts';
import { secretsManagerToken } from '../../lib/platform/secrets-manager-token.ts';
import { environmentOf, jsonReply } from '../base/aws/replies.ts';
import { startServer } from './scripted-server.ts';

/* How each store is asked for the token. What it refuses is in `test/base/aws/refusals.test.ts`. */

const secretId = 'platform/token';
const parameter = 'arn:aws:ssm:eu-central-1:111122223333:parameter/acme/token';

test('the token is the secret’s text, requested by its id', async () => {
  await using secrets = await startServer(jsonReply({ SecretString: 'the-token\n' }));

  const token = await secretsManagerToken({ secretId, environment: environmentOf(secrets) }).read();

  expect(token).toBe('the-token');
  expect(secrets.requests[0]?.headers['x-amz-target']).toBe('secretsmanager.GetSecretValue');
  expect(JSON.parse(secrets.requests[0]?.body ?? '')).toEqual({ SecretId: 'platform/token' });
});

test('the token is the parameter’s text, decrypted, requested by its ARN', async () => {
  const found = { Parameter: { Type: 'SecureString', Value: 'the-token\n' } };
  await using parameters = await startServer(jsonReply(found));

  const token = await parameterStoreToken({ parameter, environment: environmentOf(parameters) }).read();

  expect(token).toBe('the-token');
  expect(parameters.requests[0]?.headers['x-amz-target']).toBe('AmazonSSM.GetParameter');
  expect(JSON.parse(parameters.requests[0]?.body ?? '')).toEqual({ Name: parameter, WithDecryption: true });
});

test.for([
  ['binary', 'binary', { SecretBinary: Buffer.from('the-token').toString('base64') }],
  ['without a text', 'binary', {}],
  ['of spaces', 'nothing', { SecretString: ' ' }],
] as const)('a secret %s is an error that names it, and does not show it', async ([, got, found]) => {
  await using secrets = await startServer(jsonReply(found));

  const error = await secretsManagerToken({ secretId, environment: environmentOf(secrets) })
    .read()
    .catch(String);

  expect(error).toBe(`Error: secret platform/token: expected the token as text, got ${got}`);
});

test.for([
  ['of a text that is not encrypted', { Type: 'String', Value: 'the-token' }, 'a SecureString, got String'],
  ['of a list', { Type: 'StringList', Value: 'the-token,b' }, 'a SecureString, got StringList'],
  ['of nothing', undefined, 'a SecureString, got nothing'],
  ['of spaces', { Type: 'SecureString', Value: ' ' }, 'the token as text, got nothing'],
  ['without a text', { Type: 'SecureString' }, 'the token as text, got nothing'],
] as const)('a parameter %s is an error that names it, and does not show it', async ([, found, expected]) => {
  await using parameters = await startServer(jsonReply(found === undefined ? {} : { Parameter: found }));

  const error = await parameterStoreToken({ parameter, environment: environmentOf(parameters) })
    .read()
    .catch(String);

  expect(error).toBe(`Error: parameter ${parameter}: expected ${expected}`);
});
