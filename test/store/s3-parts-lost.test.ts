import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createS3Store } from '../../lib/store/s3.ts';
import { createS3Client } from '../../lib/store/s3-client.ts';
import { environmentOf, lost, retryAtOnce, s3Error } from '../base/aws/replies.ts';
import { bytes, type Reply, type SeenRequest, startServer } from '../platform/scripted-server.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

const NAME_OF_WRITE = 'x-amz-meta-write';

function stepOf({ method, target }: SeenRequest): string {
  if (target.includes('uploads=')) return 'create';
  if (target.includes('partNumber=')) return 'part';
  return { POST: 'complete', DELETE: 'discard', HEAD: 'look' }[method] ?? method;
}

const xml = (body: string) => bytes(body, { 'content-type': 'application/xml' });
const created = xml('<InitiateMultipartUploadResult><UploadId>U</UploadId></InitiateMultipartUploadResult>');
const completed = xml('<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>');
const partStored = bytes('', { etag: '"part"' });
const noSuchUpload = s3Error('NoSuchUpload', 404);

/**
 * A store over a server that accepts parts, and responds with `complete` in turn to the requests that complete an
 * upload. `owner`: whose write the object is from; undefined if no object exists.
 */
async function storeOver({ complete, owner }: { complete: readonly Reply[]; owner?: 'us' | 'them' }) {
  let write: unknown;
  let completions = 0;
  const reply: Reply = (response, request) => {
    const step = stepOf(request);
    if (step === 'create') write = request.headers[NAME_OF_WRITE];
    if (step === 'create') return created(response, request);
    if (step === 'part') return partStored(response, request);
    if (step === 'complete') return complete[completions++]?.(response, request);
    if (step === 'look' && owner !== undefined)
      return response
        .writeHead(200, { etag: '"whole"', [NAME_OF_WRITE]: owner === 'us' ? String(write) : 'theirs' })
        .end();
    return response.writeHead(step === 'discard' ? 204 : 404).end();
  };
  const server = await startServer(reply);
  return {
    store: createS3Store({ client: createS3Client(environmentOf(server)), bucket: 'bucket' }),
    steps: () => server.requests.map(stepOf).filter((step) => step !== 'part'),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const large = Buffer.alloc(9 * 1024 * 1024, 'x');
const ifAbsent = { condition: { ifAbsent: true } } as const;
const STORED = { kind: 'stored', etag: '"whole"' };

test('completing an upload is retried if it fails after S3 has begun a response of 200', async () => {
  await using s3 = await storeOver({ complete: [s3Error('InternalError', 200), completed] });

  const result = await s3.store.put('a', large);

  expect(result).toEqual(STORED);
  expect(s3.steps()).toEqual(['create', 'complete', 'complete']);
});

test('if completing an upload fails permanently, that is an error, and its parts are discarded', async () => {
  await using s3 = await storeOver({ complete: [s3Error('AccessDenied', 403)] });

  const put = s3.store.put('a', large);

  await expect(put).rejects.toThrow('put a in s3://bucket: denied, AccessDenied (about AccessDenied)');
  expect(s3.steps()).toEqual(['create', 'complete', 'discard']);
});

describe('a condition that fails after S3 has begun a response of 200', () => {
  const refused = s3Error('PreconditionFailed', 200);

  test.for([
    ['them', { kind: 'condition-failed' }],
    ['us', STORED],
  ] as const)('is recognized: the object is checked (it belongs to %s)', async ([owner, expected]) => {
    await using s3 = await storeOver({ complete: [refused, refused, refused], owner });

    const result = await s3.store.put('a', large, ifAbsent);

    expect(result).toEqual(expected);
  });
});

describe('parts whose completion got no response, and which are gone when it is sent again', () => {
  test.for([
    ['if absent', ifAbsent],
    ['without a condition', {}],
  ] as const)('are stored if the object is their own: %s', async ([, options]) => {
    await using s3 = await storeOver({ complete: [lost, noSuchUpload], owner: 'us' });

    const result = await s3.store.put('a', large, options);

    expect(result).toEqual(STORED);
    expect(s3.steps()).toEqual(['create', 'complete', 'complete', 'discard', 'look']);
  });

  test('cause an error, without a condition, if the object is another writer’s', async () => {
    await using s3 = await storeOver({ complete: [lost, noSuchUpload], owner: 'them' });

    const put = s3.store.put('a', large);

    await expect(put).rejects.toMatchObject({ failure: { kind: 'other', code: '404 NoSuchUpload' } });
  });
});
