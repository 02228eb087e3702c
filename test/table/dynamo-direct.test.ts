import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { createDynamoClient } from '../../lib/table/dynamo-table.ts';
import { environmentOf, jsonError, jsonReply } from '../base/aws/replies.ts';
import { type Reply, startServer } from '../platform/scripted-server.ts';

const put = new PutItemCommand({ TableName: 'jobs', Item: { pk: { S: 'job#ü' } } });

/** Puts an item once for each outcome, and returns how the puts ended and what was sent. */
async function puts(count: number, replies: readonly Reply[], environment: Record<string, string> = {}) {
  await using server = await startServer(...(replies as [Reply]));
  const client = createDynamoClient({ ...environmentOf(server), ...environment }, { attempts: 1 });
  const ended: unknown[] = [];
  for (let at = 0; at < count; at += 1) ended.push(await client.send(put).catch((error) => error));
  return { client, ended, requests: [...server.requests] };
}

type Requests = Awaited<ReturnType<typeof puts>>['requests'];

const senders = (requests: Requests) =>
  requests.map(({ headers }) => (headers['amz-sdk-invocation-id'] === undefined ? 'we' : 'the SDK'));

test('from its second request on, a client sends the same as the SDK, signed as the SDK signs it', async () => {
  const { client, ended, requests } = await puts(2, [jsonReply({})], { AWS_SESSION_TOKEN: 'a+token' });

  expect(senders(requests)).toEqual(['the SDK', 'we']);
  expect(requests[1]?.body).toEqual(requests[0]?.body);
  expect(ended[1]).toEqual({});
  const { authorization, connection: _, ...headers } = (requests[1]?.headers ?? {}) as Record<string, string>;
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(headers['x-amz-date'] ?? '') ?? [];
  const signingDate = new Date(
    `${date.replace(/(....)(..)/, '$1-$2-')}T${time.replace(/(..)(..)/, '$1:$2:')}Z`,
  );
  const signer = await client.config.signer();
  const unsignableHeaders = new Set(['x-amz-content-sha256', 'content-length']);
  const expected = await signer.sign(
    { method: 'POST', protocol: 'http:', hostname: '', path: '/', headers, body: requests[1]?.body },
    { signingDate, signingService: 'dynamodb', unsignableHeaders },
  );
  expect(authorization).toBe(expected.headers['authorization']);
});

test('a request that fails is made again by the SDK, and all others until it has succeeded', async () => {
  const { ended, requests } = await puts(4, [
    ...[jsonReply({}), jsonError('InternalServerError', 500), jsonError('ThrottlingException')],
    ...[jsonReply({}), jsonReply({})],
  ]);

  expect(senders(requests)).toEqual(['the SDK', 'we', 'the SDK', 'the SDK', 'we']);
  expect(ended[1]).toMatchObject({ name: 'ThrottlingException', $metadata: { attempts: 2 } });
});

test('a failed condition is final, and comes with the row in its way', async () => {
  const inTheWay = { token: { S: 't' } };
  const failed = jsonReply(
    { __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException', Item: inTheWay },
    400,
  );

  const { ended, requests } = await puts(3, [jsonReply({}), failed, jsonReply({})]);

  expect(ended[1]).toMatchObject({ name: 'ConditionalCheckFailedException', Item: inTheWay });
  expect(senders(requests)).toEqual(['the SDK', 'we', 'we']);
});
