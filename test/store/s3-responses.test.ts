import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { remedyFor } from '../../lib/cli/errors/explain.ts';
import { createS3Store } from '../../lib/store/s3.ts';
import { createS3Client } from '../../lib/store/s3-client.ts';
import type { Store } from '../../lib/store/store.ts';
import { environmentOf, lost, retryAtOnce, s3Error } from '../base/aws/replies.ts';
import { bytes, page, type Reply, redirect, startServer } from '../platform/scripted-server.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

const NAME_OF_WRITE = 'x-amz-meta-write';

/** A store over a server with these responses in turn; the methods of its requests, and the token of the first write. */
async function storeOver(replies: readonly Reply[], options: { readonly maxPauseMs?: number } = {}) {
  const server = await startServer(...replies);
  return {
    store: createS3Store({ client: createS3Client(environmentOf(server)), bucket: 'bucket', ...options }),
    methods: () => server.requests.map(({ method }) => method),
    firstWrite: () =>
      server.requests.map(({ headers }) => headers[NAME_OF_WRITE]).find((name) => name !== undefined),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const stored = bytes('', { etag: '"etag"' });
/** The response to a HEAD request for an object that the write with this token stored. */
const objectOf =
  (write: () => unknown): Reply =>
  (response) =>
    response.writeHead(200, { etag: '"etag"', [NAME_OF_WRITE]: String(write()) }).end();

const small = Buffer.from('x');
const isThere = s3Error('PreconditionFailed', 412);
const ifAbsent = { condition: { ifAbsent: true } } as const;

describe('a put if absent whose response was lost', () => {
  test('fails its condition if the object is another writer’s', async () => {
    await using s3 = await storeOver([lost, isThere, objectOf(() => 'theirs')]);

    const result = await s3.store.put('a', small, ifAbsent);

    expect(result).toEqual({ kind: 'condition-failed' });
  });

  test('has an unknown outcome, and so is an error, if the object may not be read', async () => {
    await using s3 = await storeOver([lost, isThere, bytes('', {}, 403)]);

    const put = s3.store.put('a', small, ifAbsent);

    await expect(put).rejects.toThrow('put a in s3://bucket: denied, HTTP 403');
  });

  test('has an unknown outcome if there is no response at all', async () => {
    await using s3 = await storeOver([lost]);

    const put = s3.store.put('a', small, ifAbsent);

    await expect(put).rejects.toMatchObject({ failure: { kind: 'unreachable', code: 'ECONNRESET' } });
    expect(s3.methods()).toEqual(['PUT', 'PUT', 'PUT']);
  });
});

test.for([
  ['if absent whose response was lost', [lost, isThere, 'own'], ifAbsent, ['PUT', 'PUT', 'HEAD']],
  [
    'if absent whose first attempt was still in progress at the second',
    [lost, s3Error('ConditionalRequestConflict', 409), isThere, 'own'],
    ifAbsent,
    ['PUT', 'PUT', 'PUT', 'HEAD'],
  ],
  [
    'over an etag that was stored despite an error 500',
    [s3Error('InternalError', 500), isThere, 'own'],
    { condition: { ifMatch: '"old"' } },
    ['PUT', 'PUT', 'HEAD'],
  ],
  ['without a condition, which is simply sent again', [lost, stored], {}, ['PUT', 'PUT']],
] as const)(
  'a put %s counts as stored, since the existing object is its own',
  async ([, replies, options, methods]) => {
    await using s3 = await storeOver(
      replies.map((reply) => (reply === 'own' ? objectOf(() => s3.firstWrite()) : reply)),
    );

    const result = await s3.store.put('a', small, options);

    expect(result).toEqual({ kind: 'stored', etag: '"etag"' });
    expect(s3.methods()).toEqual(methods);
  },
);

test('a body that breaks off is reported as unreachable, and never returned as a partial object', async () => {
  const halfOfIt: Reply = (response) => {
    response.writeHead(200, { etag: '"etag"', 'content-length': '1000' });
    response.write('half', () => response.socket?.resetAndDestroy());
  };
  await using s3 = await storeOver([halfOfIt]);

  const get = s3.store.get('a');

  await expect(get).rejects.toMatchObject({ failure: { kind: 'unreachable', code: 'ECONNRESET' } });
});

test.for([
  ['SlowDown', s3Error('SlowDown', 503), 'busy, SlowDown (about SlowDown)'],
  ['a throttling code with another status', s3Error('TooManyRequests', 429), 'busy, TooManyRequests'],
  ['an internal error', s3Error('InternalError', 500), 'busy, InternalError (about InternalError)'],
  ['a page of a proxy', page('bad gateway', 502), 'busy, HTTP 502'],
  ['a request that S3 did not wait for', s3Error('RequestTimeout', 400), 'unreachable, RequestTimeout'],
  ['no response', lost, 'unreachable, ECONNRESET'],
] as const)('a temporary failure of S3 is reported after three tries: %s', async ([, reply, message]) => {
  await using s3 = await storeOver([reply]);

  const put = s3.store.put('a', Buffer.from('x'));

  await expect(put).rejects.toThrow(`put a in s3://bucket: ${message}`);
  expect(s3.methods()).toHaveLength(3);
});

test.for([
  ['AccessDenied', 403, 'denied, AccessDenied (about AccessDenied)'],
  ['InvalidAccessKeyId', 403, 'denied, InvalidAccessKeyId'],
  ['ExpiredToken', 400, 'denied, ExpiredToken'],
  ['TokenRefreshRequired', 400, 'denied, TokenRefreshRequired'],
  ['OperationAborted', 409, 'busy, OperationAborted'],
  ['NoSuchBucket', 404, 'there is no such bucket'],
  ['EntityTooLarge', 400, '400 EntityTooLarge (about EntityTooLarge)'],
  ['InvalidObjectState', 400, '400 InvalidObjectState'],
] as const)('a refusal by S3 is not retried: %s', async ([code, status, message]) => {
  await using s3 = await storeOver([s3Error(code, status)]);

  const put = s3.store.put('a', Buffer.from('x'));

  await expect(put).rejects.toThrow(`put a in s3://bucket: ${message}`);
  expect(s3.methods()).toHaveLength(1);
});

const insteadOfS3 = [
  ['a login page', page('log in', 200), 'unreachable, HTTP 200'],
  ['a redirect to one', redirect(302, 'http://login.invalid/'), 'unreachable, HTTP 302'],
] as const;

const html = { 'content-type': 'text/html; charset=utf-8' };

test.for([
  ['without content', bytes('', { ...html, 'content-length': '0' })],
  ['with status 204', bytes('', html, 204)],
] as const)(
  'a response to a deletion may be called HTML by a server that speaks S3: %s',
  async ([, reply]) => {
    await using s3 = await storeOver([reply]);

    await s3.store.delete('a');

    expect(s3.methods()).toEqual(['DELETE']);
  },
);

test.for(insteadOfS3)('%s instead of S3 is an error of every operation', async ([, reply, got]) => {
  await using s3 = await storeOver([reply]);
  const { store } = s3;

  const tries = [
    store.get('a'),
    store.put('a', small),
    store.delete('a'),
    store.copy('a', 'b'),
    Array.fromAsync(store.list('a')),
    Array.fromAsync(store.folders('a/')),
    store.tagAll?.('a', { name: 'x', value: 'y' }),
  ];

  for (const each of await Promise.allSettled(tries)) {
    const { reason } = each as PromiseRejectedResult;
    expect(String(reason)).toContain(`in s3://bucket: ${got}`);
    expect(remedyFor(reason, {})).toContain('login page');
  }
});

test.for([
  ['a copy', (store: Store) => store.copy('a', 'b')],
  ['a list', (store: Store) => Array.fromAsync(store.list('a'))],
] as const)('%s fails if the response lacks its result', async ([, run]) => {
  await using s3 = await storeOver([bytes('<a/>')]);

  await expect(run(s3.store)).rejects.toThrow('unreachable, HTTP 200');
});

test('an object that is an HTML page is read like any other object', async () => {
  await using s3 = await storeOver([bytes('<html>', { 'content-type': 'text/html', etag: '"etag"' })]);

  expect((await s3.store.get('report.html'))?.body.toString()).toBe('<html>');
});

test('a refusal does not show the refused credentials', async () => {
  await using s3 = await storeOver([s3Error('SignatureDoesNotMatch', 403)]);

  const error = await s3.store.get('a').catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({ failure: { kind: 'denied' }, cause: { name: 'SignatureDoesNotMatch' } });
  expect(String(error)).not.toMatch(/a-secret-key|AKIDEXAMPLE/);
});

describe('a copy that fails after S3 has begun a response of 200', () => {
  test.for([
    ['AccessDenied', { kind: 'denied', code: 'AccessDenied' }],
    ['NoSuchKey', { kind: 'missing', what: 'object' }],
    ['InternalError', { kind: 'busy', code: 'InternalError' }],
  ] as const)('is reported with its code: %s', async ([code, failure]) => {
    await using s3 = await storeOver([s3Error(code, 200)]);

    const copy = s3.store.copy('a', 'b');

    await expect(copy).rejects.toMatchObject({ failure });
  });
});

const half: Reply = (response) => {
  response.writeHead(200, { etag: '"etag"', 'content-length': '8' }).write('half');
};

const slowStoreOver = (reply: Reply) => storeOver([reply], { maxPauseMs: 30 });

const stalled = { failure: { kind: 'unreachable', code: 'ETIMEDOUT' } };

test('an object that stops arriving is reported as unreachable instead of being waited for forever', async () => {
  await using s3 = await slowStoreOver(half);

  const get = s3.store.get('a');

  await expect(get).rejects.toMatchObject({
    ...stalled,
    message: 'get a in s3://bucket: unreachable, ETIMEDOUT (no bytes for 30 ms)',
  });
});

test('a stream that stops arriving is reported as unreachable, after the bytes that arrived', async () => {
  await using s3 = await slowStoreOver(half);
  const read: string[] = [];

  const readAll = async () => {
    for await (const chunk of (await s3.store.stream('a')) ?? []) read.push(Buffer.from(chunk).toString());
  };

  await expect(readAll()).rejects.toMatchObject(stalled);
  expect(read).toEqual(['half']);
});

test('a slow reader may pause longer than S3 may', async () => {
  await using s3 = await slowStoreOver(bytes('x'.repeat(200_000), { etag: '"etag"' }));
  let sizeBytes = 0;

  for await (const chunk of (await s3.store.stream('a')) ?? []) {
    if (sizeBytes === 0) await new Promise((resolve) => setTimeout(resolve, 60));
    sizeBytes += chunk.byteLength;
  }

  expect(sizeBytes).toBe(200_000);
});

test('a body with a wrong checksum is refused', async () => {
  await using s3 = await slowStoreOver(bytes('half', { etag: '"etag"', 'x-amz-checksum-crc32': 'AAAAAA==' }));

  const get = s3.store.get('a');

  await expect(get).rejects.toThrow(/^get a in s3:\/\/bucket: .*[Cc]hecksum/);
});

test('an object that is larger than the limit is refused by its size, before its bytes arrive', async () => {
  await using s3 = await slowStoreOver(half);

  const get = s3.store.get('a', { maxBytes: 7 });

  await expect(get).rejects.toMatchObject({ failure: { kind: 'too-large', maxBytes: 7, sizeBytes: 8 } });
});

test('an object whose size S3 does not report is refused once more bytes than the limit have arrived', async () => {
  const endless: Reply = (response) => {
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    };
    response.writeHead(200, { etag: '"etag"' }).on('drain', pour);
    pour();
  };
  await using s3 = await slowStoreOver(endless);

  const get = s3.store.get('a', { maxBytes: 100_000 });

  await expect(get).rejects.toMatchObject({ failure: { kind: 'too-large', maxBytes: 100_000 } });
});
