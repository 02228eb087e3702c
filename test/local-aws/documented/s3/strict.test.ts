import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { buildApp } from 'fauxqs';
import { describe, expect, test } from 'vitest';
import type { Reply } from '../reply.ts';
import { startLayer } from '../start-layer.ts';

type Layer = Awaited<ReturnType<typeof startLayer>>;

const textOf = ({ body }: Reply) => body.toString('utf8');

const valuesOf = (reply: Reply, name: string) =>
  [...textOf(reply).matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, value]) => value);

const shown = (reply: Reply) => [reply.status, valuesOf(reply, 'Code')[0]];

function crc32Of(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return bytes.toString('base64');
}

const hashOf = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('base64');

test('a key has at most 1,024 bytes', async () => {
  await using layer = await startLayer({ only: ['s3-key-length'] });
  const put = (key: string) => layer.s3('PUT', `/bucket/${encodeURIComponent(key)}`, { body: 'x' });

  expect((await put('k'.repeat(1_024))).status).toBe(200);
  expect(shown(await put(`${'k'.repeat(1_023)}é`))).toEqual([400, 'KeyTooLongError']);
});

describe('a digest that differs from the body is refused', () => {
  test.for([
    ['content-md5', hashOf('md5', 'body')],
    ['x-amz-checksum-crc32', crc32Of('body')],
    ['x-amz-checksum-sha1', hashOf('sha1', 'body')],
    ['x-amz-checksum-sha256', hashOf('sha256', 'body')],
  ] as const)('in the header %s', async ([name, digest]) => {
    await using layer = await startLayer({ only: ['s3-checksums'] });
    const put = (body: string) => layer.s3('PUT', '/bucket/key', { headers: { [name]: digest }, body });

    expect((await put('body')).status).toBe(200);
    expect(shown(await put('Body'))).toEqual([400, 'BadDigest']);
    expect(textOf(await layer.s3('GET', '/bucket/key'))).toBe('body');
  });

  test('in the trailer of a body in chunks', async () => {
    await using layer = await startLayer({ only: ['s3-checksums'] });
    const put = (sent: string) =>
      layer.s3('PUT', '/bucket/key', {
        headers: { 'content-encoding': 'aws-chunked', 'x-amz-trailer': 'x-amz-checksum-crc32' },
        body: `2\r\n${sent.slice(0, 2)}\r\n2\r\n${sent.slice(2)}\r\n0\r\nx-amz-checksum-crc32:${crc32Of('body')}\r\n\r\n`,
      });

    expect((await put('body')).status).toBe(200);
    expect(shown(await put('Body'))).toEqual([400, 'BadDigest']);
  });
});

test('a part has a number from 1 to 10,000', async () => {
  await using layer = await startLayer({ only: ['s3-part-numbers'] });
  const [id] = valuesOf(await layer.s3('POST', '/bucket/key?uploads'), 'UploadId');
  const put = (part: number) =>
    layer.s3('PUT', `/bucket/key?partNumber=${part}&uploadId=${id}`, { body: 'x' });

  expect((await put(10_000)).status).toBe(200);
  expect(shown(await put(10_001))).toEqual([400, 'InvalidArgument']);
  expect(shown(await put(0))).toEqual([400, 'InvalidArgument']);
});

test.for([
  ['PUT', '/bucket/key?acl'],
  ['PUT', '/bucket/key?retention'],
  ['GET', '/bucket/key?acl'],
  ['GET', '/bucket/key?uploadId=1'],
  ['GET', '/bucket?policy'],
  ['POST', '/bucket?delete'],
] as const)('%s %s is refused, and not done to the object itself', async ([method, url]) => {
  await using layer = await startLayer({ only: ['s3-unknown-operations'] });
  await layer.s3('PUT', '/bucket/key', { body: 'body' });

  expect(shown(await layer.s3(method, url, { body: 'x' }))).toEqual([501, 'NotImplemented']);
  expect(textOf(await layer.s3('GET', '/bucket/key'))).toBe('body');
});

describe('tags', () => {
  const tags = '<Tag><Key>a</Key><Value>b</Value></Tag>';
  const tagged = async ({ s3 }: Layer) => valuesOf(await s3('GET', '/bucket/key?tagging'), 'TagSet')[0];

  test('are set and read, and the object stays as it is', async () => {
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

  test('come from the header of a put, which replaces those of the object before', async () => {
    await using layer = await startLayer({ only: ['s3-tagging'] });
    await layer.s3('PUT', '/bucket/key', { headers: { 'x-amz-tagging': 'a=b' }, body: 'body' });
    const first = await tagged(layer);

    await layer.s3('PUT', '/bucket/key', { body: 'body' });

    expect([first, await tagged(layer)]).toEqual([tags, '']);
  });

  test('of an object that does not exist are refused', async () => {
    await using layer = await startLayer({ only: ['s3-tagging'] });

    expect(shown(await layer.s3('PUT', '/bucket/key?tagging', { body: '' }))).toEqual([404, 'NoSuchKey']);
  });
});

describe('uploads that were not completed', () => {
  const start = async ({ s3 }: Layer, key: string) =>
    valuesOf(await s3('POST', `/bucket/${key}?uploads`), 'UploadId')[0] ?? '';

  test('are listed with their age until they are completed or aborted', async () => {
    const nowMs = Date.parse('2026-11-20T00:00:00Z');
    await using layer = await startLayer({ only: ['s3-uploads-listed'], now: () => nowMs });
    const [left, aborted, completed] = [
      await start(layer, 'a/1'),
      await start(layer, 'a/2'),
      await start(layer, 'a/3'),
    ];
    await start(layer, 'b');
    await layer.s3('DELETE', `/bucket/a/2?uploadId=${aborted}`);
    const part = await layer.s3('PUT', `/bucket/a/3?partNumber=1&uploadId=${completed}`, { body: 'x' });
    await layer.s3('POST', `/bucket/a/3?uploadId=${completed}`, {
      body: `<C><Part><PartNumber>1</PartNumber><ETag>${part.headers['etag']}</ETag></Part></C>`,
    });

    const listed = await layer.s3('GET', '/bucket?uploads&prefix=a/');

    expect(valuesOf(listed, 'Key')).toEqual(['a/1']);
    expect(valuesOf(listed, 'UploadId')).toEqual([left]);
    expect(valuesOf(listed, 'Initiated')).toEqual(['2026-11-20T00:00:00.000Z']);
  });

  test('are listed in pages, several of one key as well', async () => {
    let nowMs = 0;
    await using layer = await startLayer({ only: ['s3-uploads-listed'], now: () => nowMs });
    const ids: string[] = [];
    for (const key of ['a', 'a', 'b']) {
      nowMs += 1;
      ids.push(await start(layer, key));
    }

    const found: unknown[] = [];
    let markers = '';
    do {
      const page = await layer.s3('GET', `/bucket?uploads&max-uploads=1${markers}`);
      found.push(...valuesOf(page, 'UploadId'));
      const [key, id] = [valuesOf(page, 'NextKeyMarker')[0], valuesOf(page, 'NextUploadIdMarker')[0]];
      markers = key === undefined ? '' : `&key-marker=${key}&upload-id-marker=${id}`;
    } while (markers !== '' && found.length < 10);

    expect(found).toEqual(ids);
  });
});

test('without the rule, fauxqs lists by locale, or the rule is no longer needed', async () => {
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
