import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createS3Store } from '../../lib/store/s3.ts';
import { createS3Client } from '../../lib/store/s3-client.ts';
import { environmentOf, lost, retryAtOnce, s3Error } from '../base/aws/replies.ts';
import { bytes, type Reply, startServer } from '../platform/scripted-server.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

const NAME_OF_WRITE = 'x-amz-meta-write';

/** A store over a server that gives the replies in turn; the methods of its requests, and the name of the first write. */
async function storeOver(...replies: readonly Reply[]) {
  const server = await startServer(...replies);
  return {
    store: createS3Store({ client: createS3Client(environmentOf(server)), bucket: 'bucket' }),
    methods: () => server.requests.map(({ method }) => method),
    firstWrite: () =>
      server.requests.map(({ headers }) => headers[NAME_OF_WRITE]).find((name) => name !== undefined),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const stored = bytes('', { etag: '"etag"' });
/** The object as a HEAD request shows it, stored by the write that `write` names. */
const objectOf =
  (write: () => unknown): Reply =>
  (response) =>
    response.writeHead(200, { etag: '"etag"', [NAME_OF_WRITE]: String(write()) }).end();

const small = Buffer.from('x');
const ifAbsent = { condition: { ifAbsent: true } } as const;

describe('a put if absent whose response was lost', () => {
  test('is stored if the existing object is its own', async () => {
    await using s3 = await storeOver(
      lost,
      s3Error('PreconditionFailed', 412),
      objectOf(() => s3.firstWrite()),
    );

    const result = await s3.store.put('a', small, ifAbsent);

    expect(result).toEqual({ kind: 'stored', etag: '"etag"' });
    expect(s3.methods()).toEqual(['PUT', 'PUT', 'HEAD']);
  });

  test('is also stored if the first attempt was still in progress at the second', async () => {
    await using s3 = await storeOver(
      lost,
      s3Error('ConditionalRequestConflict', 409),
      s3Error('PreconditionFailed', 412),
      objectOf(() => s3.firstWrite()),
    );

    const result = await s3.store.put('a', small, ifAbsent);

    expect(result).toEqual({ kind: 'stored', etag: '"etag"' });
    expect(s3.methods()).toEqual(['PUT', 'PUT', 'PUT', 'HEAD']);
  });

  test('fails its condition if the object is somebody else’s', async () => {
    await using s3 = await storeOver(
      lost,
      s3Error('PreconditionFailed', 412),
      objectOf(() => 'theirs'),
    );

    const result = await s3.store.put('a', small, ifAbsent);

    expect(result).toEqual({ kind: 'condition-failed' });
  });

  test('is unknown, and so an error, if the object may not be read', async () => {
    await using s3 = await storeOver(lost, s3Error('PreconditionFailed', 412), bytes('', {}, 403));

    const put = s3.store.put('a', small, ifAbsent);

    await expect(put).rejects.toThrow('put a in s3://bucket: denied, HTTP 403');
  });

  test('is unknown if there is no response at all', async () => {
    await using s3 = await storeOver(lost);

    const put = s3.store.put('a', small, ifAbsent);

    await expect(put).rejects.toMatchObject({ failure: { kind: 'unreachable', code: 'ECONNRESET' } });
    expect(s3.methods()).toEqual(['PUT', 'PUT', 'PUT']);
  });
});

test('a put over an etag that was stored despite an error 500 is stored', async () => {
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
  expect(s3.methods()).toEqual(['PUT', 'PUT']);
});

test('a body that breaks off is reported as unreachable, and never returned as a partial object', async () => {
  const halfOfIt: Reply = (response) => {
    response.writeHead(200, { etag: '"etag"', 'content-length': '1000' });
    response.write('half', () => response.socket?.resetAndDestroy());
  };
  await using s3 = await storeOver(halfOfIt);

  const get = s3.store.get('a');

  await expect(get).rejects.toMatchObject({ failure: { kind: 'unreachable', code: 'ECONNRESET' } });
});
