import { expect, test } from 'vitest';
import { AwsError } from '../../lib/base/aws/index.ts';
import { openStoredToken } from '../../lib/platform/token.ts';
import { environmentOf, jsonReply } from '../base/aws/replies.ts';
import { thrown } from './caught.ts';
import { startServer } from './scripted-server.ts';

/* Tests how the token is read from each store. Errors of stores are tested in `test/base/aws/refusals.test.ts`. */

const secretId = 'platform/token';
const parameter = 'arn:aws:ssm:eu-central-1:111122223333:parameter/acme/token';

test('the token is the value of the secret, requested by its id', async () => {
  await using secrets = await startServer(jsonReply({ SecretString: 'the-token\n' }));

  const token = await openStoredToken({ location: secretId, environment: environmentOf(secrets) }).read();

  expect(token).toBe('the-token');
  expect(secrets.requests[0]?.headers['x-amz-target']).toBe('secretsmanager.GetSecretValue');
  expect(JSON.parse(secrets.requests[0]?.body ?? '')).toEqual({ SecretId: 'platform/token' });
});

test('the token is the value of the parameter, decrypted, requested by its ARN', async () => {
  const found = { Parameter: { Type: 'SecureString', Value: 'the-token\n' } };
  await using parameters = await startServer(jsonReply(found));

  const token = await openStoredToken({ location: parameter, environment: environmentOf(parameters) }).read();

  expect(token).toBe('the-token');
  expect(parameters.requests[0]?.headers['x-amz-target']).toBe('AmazonSSM.GetParameter');
  expect(JSON.parse(parameters.requests[0]?.body ?? '')).toEqual({ Name: parameter, WithDecryption: true });
});

test.for([
  ['binary', 'binary', { SecretBinary: Buffer.from('the-token').toString('base64') }],
  ['without a text', 'binary', {}],
  ['of spaces', 'nothing', { SecretString: ' ' }],
] as const)('a secret %s causes an error that names it, and does not show it', async ([, got, found]) => {
  await using secrets = await startServer(jsonReply(found));

  const error = await openStoredToken({ location: secretId, environment: environmentOf(secrets) })
    .read()
    .catch(String);

  expect(error).toBe(
    `AwsError: read secret platform/token: NotAToken: expected the token as plain text, or as JSON with one key and a string, got ${got}`,
  );
});

test.for([
  ['of a text that is not encrypted', { Type: 'String', Value: 'the-token' }, 'a SecureString, got String'],
  ['of a list', { Type: 'StringList', Value: 'the-token,b' }, 'a SecureString, got StringList'],
  ['of nothing', undefined, 'a SecureString, got nothing'],
  [
    'of spaces',
    { Type: 'SecureString', Value: ' ' },
    'the token as plain text, or as JSON with one key and a string, got nothing',
  ],
  [
    'without a text',
    { Type: 'SecureString' },
    'the token as plain text, or as JSON with one key and a string, got nothing',
  ],
] as const)(
  'a parameter %s causes an error that names it, and does not show it',
  async ([, found, expected]) => {
    await using parameters = await startServer(jsonReply(found === undefined ? {} : { Parameter: found }));

    const error = await openStoredToken({ location: parameter, environment: environmentOf(parameters) })
      .read()
      .catch(String);

    expect(error).toBe(`AwsError: read parameter ${parameter}: NotAToken: expected ${expected}`);
  },
);

/** The token that is read from a secret with this text. */
async function tokenIn(SecretString: string): Promise<string> {
  await using secrets = await startServer(jsonReply({ SecretString }));
  return await openStoredToken({ location: secretId, environment: environmentOf(secrets) }).read();
}

const JSON_OF =
  'read secret platform/token: NotAToken: expected the token as plain text, or as JSON with one key and a string, got JSON with';

test.each([
  ['plain', 'the-token', 'the-token'],
  ['with what an editor adds', ' the-token\r\n', 'the-token'],
  ['in quotes', '"the-token"', 'the-token'],
  ['as a pair, as the console of Secrets Manager makes it', '{"token":"the-token"}', 'the-token'],
  ['as a pair over lines', '{\n  "PLATFORM_TOKEN": "the-token\\n"\n}', 'the-token'],
  ['with a brace at its beginning', '{the-token', '{the-token'],
])('a token is read correctly if it is stored %s', async (_, text, token) => {
  expect(await tokenIn(text)).toBe(token);
});

test.each([
  ['two pairs', '{"user":"a","token":"hush"}', `${JSON_OF} the keys "user", "token"`],
  ['a pair without a text', '{"token":{"value":"hush"}}', `${JSON_OF} the key "token"`],
  ['an empty pair', '{"token":""}', `${JSON_OF} the key "token"`],
  ['no pair', '{}', JSON_OF],
  ['a sentence', 'the token is hush', 'got a string with spaces or other invisible characters in it'],
])('a value that is not one token is refused, and not shown: %s', async (_, text, message) => {
  const error = await thrown(tokenIn(text));

  expect(error).toBeInstanceOf(AwsError);
  expect(String(error)).toContain(message);
  expect(String(error)).not.toContain('hush');
});
