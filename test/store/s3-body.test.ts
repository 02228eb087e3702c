import { expect, test } from 'vitest';
import { createS3Store } from '../../lib/store/s3.ts';
import { createS3Client } from '../../lib/store/s3-client.ts';
import { environmentOf } from '../base/aws/replies.ts';
import { bytes, type Reply, startServer } from '../platform/scripted-server.ts';

/** Half of a body, and then nothing more. */
const half: Reply = (response) => {
  response.writeHead(200, { etag: '"etag"', 'content-length': '8' }).write('half');
};

async function storeOver(reply: Reply) {
  const server = await startServer(reply);
  const client = createS3Client(environmentOf(server));
  return {
    store: createS3Store({ client, bucket: 'bucket', mostPauseMs: 30 }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const stalled = { failure: { kind: 'unreachable', code: 'ETIMEDOUT' } };

test('an object that stops arriving is reported as unreachable instead of being waited for forever', async () => {
  await using s3 = await storeOver(half);

  const get = s3.store.get('a');

  await expect(get).rejects.toMatchObject({
    ...stalled,
    message: 'get a in s3://bucket: unreachable, ETIMEDOUT (no bytes for 30 ms)',
  });
});

test('so is a stream, after the bytes that arrived', async () => {
  await using s3 = await storeOver(half);
  const read: string[] = [];

  const readAll = async () => {
    for await (const chunk of (await s3.store.stream('a')) ?? []) read.push(Buffer.from(chunk).toString());
  };

  await expect(readAll()).rejects.toMatchObject(stalled);
  expect(read).toEqual(['half']);
});

test('a reader may pause longer than S3', async () => {
  await using s3 = await storeOver(bytes('x'.repeat(200_000), { etag: '"etag"' }));
  let sizeBytes = 0;

  for await (const chunk of (await s3.store.stream('a')) ?? []) {
    if (sizeBytes === 0) await new Promise((resolve) => setTimeout(resolve, 60));
    sizeBytes += chunk.byteLength;
  }

  expect(sizeBytes).toBe(200_000);
});

test('a body with a wrong checksum is refused', async () => {
  await using s3 = await storeOver(bytes('half', { etag: '"etag"', 'x-amz-checksum-crc32': 'AAAAAA==' }));

  const get = s3.store.get('a');

  await expect(get).rejects.toThrow(/^get a in s3:\/\/bucket: .*[Cc]hecksum/);
});

test('an object that is larger than asked for is refused by its size, before its bytes arrive', async () => {
  await using s3 = await storeOver(half);

  const get = s3.store.get('a', { mostBytes: 7 });

  await expect(get).rejects.toMatchObject({ failure: { kind: 'too-large', mostBytes: 7, sizeBytes: 8 } });
});

test('so is one whose size S3 does not report, once more have arrived', async () => {
  const endless: Reply = (response) => {
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    };
    response.writeHead(200, { etag: '"etag"' }).on('drain', pour);
    pour();
  };
  await using s3 = await storeOver(endless);

  const get = s3.store.get('a', { mostBytes: 100_000 });

  await expect(get).rejects.toMatchObject({ failure: { kind: 'too-large', mostBytes: 100_000 } });
});
