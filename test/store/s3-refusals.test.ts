import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createS3Store } from '../../lib/store/s3.ts';
import { createS3Client } from '../../lib/store/s3-client.ts';
import type { Store } from '../../lib/store/store.ts';
import { environmentOf, lost, retryAtOnce, s3Error } from '../base/aws/replies.ts';
import { page, type Reply, startServer } from '../platform/scripted-server.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

/** A store over a server that gives the replies in turn, and the last one forever. */
async function storeOver(...replies: readonly Reply[]) {
  const server = await startServer(...replies);
  const store: Store = createS3Store({ client: createS3Client(environmentOf(server)), bucket: 'bucket' });
  return {
    store,
    requests: server.requests,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe('a temporary failure of S3 is tried three times, and then reported as what it is', () => {
  test.for([
    ['SlowDown', s3Error('SlowDown', 503), 'busy, SlowDown (about SlowDown)'],
    ['a throttling code with another status', s3Error('TooManyRequests', 429), 'busy, TooManyRequests'],
    ['an internal error', s3Error('InternalError', 500), 'busy, InternalError (about InternalError)'],
    ['a page of a proxy', page('bad gateway', 502), 'busy, HTTP 502'],
    ['a request that S3 did not wait for', s3Error('RequestTimeout', 400), 'unreachable, RequestTimeout'],
    ['no response', lost, 'unreachable, ECONNRESET'],
  ] as const)('%s', async ([, reply, message]) => {
    await using s3 = await storeOver(reply);

    const put = s3.store.put('a', Buffer.from('x'));

    await expect(put).rejects.toThrow(`put a in s3://bucket: ${message}`);
    expect(s3.requests).toHaveLength(3);
  });
});

describe('a refusal by S3 is not retried', () => {
  test.for([
    ['AccessDenied', 403, 'denied, AccessDenied (about AccessDenied)'],
    ['InvalidAccessKeyId', 403, 'denied, InvalidAccessKeyId'],
    ['ExpiredToken', 400, 'denied, ExpiredToken'],
    ['TokenRefreshRequired', 400, 'denied, TokenRefreshRequired'],
    ['OperationAborted', 409, 'busy, OperationAborted'],
    ['NoSuchBucket', 404, 'there is no such bucket'],
    ['EntityTooLarge', 400, '400 EntityTooLarge (about EntityTooLarge)'],
    ['InvalidObjectState', 400, '400 InvalidObjectState'],
  ] as const)('%s', async ([code, status, message]) => {
    await using s3 = await storeOver(s3Error(code, status));

    const put = s3.store.put('a', Buffer.from('x'));

    await expect(put).rejects.toThrow(`put a in s3://bucket: ${message}`);
    expect(s3.requests).toHaveLength(1);
  });
});

test('a refusal does not show the credentials that were refused', async () => {
  await using s3 = await storeOver(s3Error('SignatureDoesNotMatch', 403));

  const error = await s3.store.get('a').catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({ failure: { kind: 'denied' }, cause: { name: 'SignatureDoesNotMatch' } });
  expect(String(error)).not.toMatch(/a-secret-key|AKIDEXAMPLE/);
});

describe('a copy that fails after S3 has begun a response of 200', () => {
  test.for([
    ['AccessDenied', { kind: 'denied', code: 'AccessDenied' }],
    ['NoSuchKey', { kind: 'missing', what: 'object' }],
    ['InternalError', { kind: 'busy', code: 'InternalError' }],
  ] as const)('is reported by its code: %s', async ([code, failure]) => {
    await using s3 = await storeOver(s3Error(code, 200));

    const copy = s3.store.copy('a', 'b');

    await expect(copy).rejects.toMatchObject({ failure });
  });
});
