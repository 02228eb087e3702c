import { buildApp } from 'fauxqs';
import { describe, expect, test } from 'vitest';
import type { Reply } from '../reply.ts';
import { startLayer } from '../start-layer.ts';

type Layer = Awaited<ReturnType<typeof startLayer>>;

const textOf = ({ body }: Reply) => body.toString('utf8');

const valuesOf = (reply: Reply, name: string) =>
  [...textOf(reply).matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, value]) => value);

const shown = (reply: Reply) => [reply.status, valuesOf(reply, 'Code')[0]];

test('a key has at most 1,024 bytes', async () => {
  await using layer = await startLayer({ only: ['s3-key-length'] });
  const put = (key: string) => layer.s3('PUT', `/bucket/${encodeURIComponent(key)}`, { body: 'x' });

  expect((await put('k'.repeat(1_024))).status).toBe(200);
  expect(shown(await put(`${'k'.repeat(1_023)}é`))).toEqual([400, 'KeyTooLongError']);
});

test.for([
  ['PUT', '/bucket/key?acl'],
  ['PUT', '/bucket/key?retention'],
  ['GET', '/bucket/key?acl'],
  ['GET', '/bucket/key?uploadId=1'],
  ['GET', '/bucket?policy'],
  ['POST', '/bucket?delete'],
] as const)('%s %s is refused as unknown, and not applied to the object', async ([method, url]) => {
  await using layer = await startLayer({ only: ['s3-unknown-operations'] });
  await layer.s3('PUT', '/bucket/key', { body: 'body' });

  expect(shown(await layer.s3(method, url, { body: 'x' }))).toEqual([501, 'NotImplemented']);
  expect(textOf(await layer.s3('GET', '/bucket/key'))).toBe('body');
});

describe('the tags of an object', () => {
  const tags = '<Tag><Key>a</Key><Value>b</Value></Tag>';
  const tagged = async ({ s3 }: Layer) => valuesOf(await s3('GET', '/bucket/key?tagging'), 'TagSet')[0];

  test('can be set and read, and the object is unchanged', async () => {
    await using layer = await startLayer({ only: ['s3-tagging'] });
    await layer.s3('PUT', '/bucket/key', { body: 'body' });

    const put = await layer.s3('PUT', '/bucket/key?tagging', {
      body: `<Tagging><TagSet>${tags}</TagSet></Tagging>`,
    });
    const read = await tagged(layer);

    expect(put.status).toBe(200);
    expect(read).toBe(tags);
    expect(textOf(await layer.s3('GET', '/bucket/key'))).toBe('body');
  });

  test('come from the header of a put, which replaces those of the previous object', async () => {
    await using layer = await startLayer({ only: ['s3-tagging'] });
    await layer.s3('PUT', '/bucket/key', { headers: { 'x-amz-tagging': 'a=b' }, body: 'body' });
    const first = await tagged(layer);

    await layer.s3('PUT', '/bucket/key', { body: 'body' });

    expect([first, await tagged(layer)]).toEqual([tags, '']);
  });

  test('are refused if the object does not exist', async () => {
    await using layer = await startLayer({ only: ['s3-tagging'] });

    expect(shown(await layer.s3('PUT', '/bucket/key?tagging', { body: '' }))).toEqual([404, 'NoSuchKey']);
  });
});

test('without the rule for listings, fauxqs orders keys by locale (if it does not, the rule is no longer needed)', async () => {
  await using app = buildApp({ logger: false });
  await app.inject({ method: 'PUT', url: '/bucket' });
  const headers = { 'content-type': 'text/plain' };
  for (const key of ['a', 'B'])
    await app.inject({ method: 'PUT', url: `/bucket/${key}`, headers, payload: 'x' });

  const { body } = await app.inject({ url: '/bucket?list-type=2' });

  expect(
    /<Key>(.*?)</.exec(body)?.[1],
    'fauxqs now lists in the order of bytes: delete test/local-aws/documented/s3/listing.ts',
  ).toBe('a');
});
