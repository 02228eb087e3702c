import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createS3Store } from '../../lib/store/s3.ts';
import { createS3Client } from '../../lib/store/s3-client.ts';
import { environmentOf, lost, retryAtOnce, s3Error } from '../aws/replies.ts';
import { bytes, type Reply, startServer } from '../platform/scripted-server.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

const NAME_OF_WRITE = 'x-amz-meta-write';

/** A store over a server that gives the replies in turn; what was asked, and the name of the write that came first. */
async function storeOver(...replies: readonly Reply[]) {
  const server = await startServer(...replies);
  return {
    store: createS3Store({ client: createS3Client(environmentOf(server)), bucket: 'bucket' }),
    asked: () => server.requests.map(({ method }) => method),
    firstWrite: () =>
      server.requests.map(({ headers }) => headers[NAME_OF_WRITE]).find((name) => name !== undefined),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const stored = bytes('', { etag: '"etag"' });
/** The object as the head shows it, written by whoever `write` names. */
const objectOf =
  (write: () => unknown): Reply =>
  (response) =>
    response.writeHead(200, { etag: '"etag"', [NAME_OF_WRITE]: String(write()) }).end();

const small = Buffer.from('x');
const ifAbsent = { condition: { ifAbsent: true } } as const;

describe('a put if absent whose response was lost', () => {
  test('is stored where the object that is in the way is its own', async () => {
    await using s3 = await storeOver(
      lost,
      s3Error('PreconditionFailed', 412),
      objectOf(() => s3.firstWrite()),
    );

    const result = await s3.store.put('a', small, ifAbsent);

    expect(result).toEqual({ kind: 'stored', etag: '"etag"' });
    expect(s3.asked()).toEqual(['PUT', 'PUT', 'HEAD']);
  });

  test('is stored, too, if the first try was still under way when it was tried again', async () => {
    await using s3 = await storeOver(
      lost,
      s3Error('ConditionalRequestConflict', 409),
      s3Error('PreconditionFailed', 412),
      objectOf(() => s3.firstWrite()),
    );

    const result = await s3.store.put('a', small, ifAbsent);

    expect(result).toEqual({ kind: 'stored', etag: '"etag"' });
    expect(s3.asked()).toEqual(['PUT', 'PUT', 'PUT', 'HEAD']);
  });

  test('failed its condition where the object is of somebody else', async () => {
    await using s3 = await storeOver(
      lost,
      s3Error('PreconditionFailed', 412),
      objectOf(() => 'theirs'),
    );

    const result = await s3.store.put('a', small, ifAbsent);

    expect(result).toEqual({ kind: 'condition-failed' });
  });

  test('is unknown, which is an error, where the object may not be looked at', async () => {
    await using s3 = await storeOver(lost, s3Error('PreconditionFailed', 412), bytes('', {}, 403));

    const put = s3.store.put('a', small, ifAbsent);

    await expect(put).rejects.toThrow('put a in s3://bucket: denied, HTTP 403');
  });

  test('is unknown where no response comes at all', async () => {
    await using s3 = await storeOver(lost);

    const put = s3.store.put('a', small, ifAbsent);

    await expect(put).rejects.toMatchObject({ failure: { kind: 'unreachable', code: 'ECONNRESET' } });
    expect(s3.asked()).toEqual(['PUT', 'PUT', 'PUT']);
  });
});

test('a put over an etag that was stored behind an error of 500 is stored', async () => {
  await using s3 = await storeOver(
    s3Error('InternalError', 500),
    s3Error('PreconditionFailed', 412),
    objectOf(() => s3.firstWrite()),
  );

  const result = await s3.store.put('a', small, { condition: { ifMatch: '"old"' } });

  expect(result).toEqual({ kind: 'stored', etag: '"etag"' });
});

test('a put without a condition is simply sent again', async () => {
  await using s3 = await storeOver(lost, stored);

  const result = await s3.store.put('a', small);

  expect(result).toEqual({ kind: 'stored', etag: '"etag"' });
  expect(s3.asked()).toEqual(['PUT', 'PUT']);
});

test('a body that breaks off is unreachable, and no part of an object', async () => {
  const halfOfIt: Reply = (response) => {
    response.writeHead(200, { etag: '"etag"', 'content-length': '1000' });
    response.write('half', () => response.socket?.resetAndDestroy());
  };
  await using s3 = await storeOver(halfOfIt);

  const get = s3.store.get('a');

  await expect(get).rejects.toMatchObject({ failure: { kind: 'unreachable', code: 'ECONNRESET' } });
});
