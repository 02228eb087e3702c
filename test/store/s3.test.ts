import { createServer } from 'node:http';
import { GetObjectTaggingCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from 'vitest';
import { createS3Store } from '../../lib/store/s3.ts';
import { createS3Client } from '../../lib/store/s3-client.ts';
import { startTestAws } from '../base/aws/start-test-aws.ts';
import { listening } from '../listening.ts';
import { describeStore } from './store-suite.ts';

let stores = 0;

const aws = await startTestAws({ buckets: ['bucket'] });
const client = createS3Client(aws.settings);
const bucket = aws.bucket('bucket');

afterAll(() => aws.close());

async function makeStore() {
  stores += 1;
  return createS3Store({ client, bucket, prefix: `stores/dt=${stores}` });
}

/** A client that calls `before` each time it sends a request, and `after` when the response arrives. */
function spyClient(before: (command: string) => void, after: (command: string) => void = () => {}): S3Client {
  const spied = createS3Client(aws.settings);
  spied.middlewareStack.add(
    (next, context) => async (args) => {
      before(context.commandName ?? '');
      const response = await next(args);
      after(context.commandName ?? '');
      return response;
    },
    { step: 'deserialize', priority: 'low' },
  );
  return spied;
}

const s3Error = (name: string, httpStatusCode: number): Error =>
  Object.assign(new Error(name), { name, $fault: 'client', $metadata: { httpStatusCode } });

const brokenConnection = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

describeStore('an S3 store', makeStore);

describe('in S3', () => {
  test('a store without a prefix is the whole bucket', async () => {
    await using own = await startTestAws({ buckets: ['whole'] });
    const store = createS3Store({ client: createS3Client(own.settings), bucket: own.bucket('whole') });

    await store.put('a', Buffer.from('x'));

    expect(store.location).toBe(`s3://${own.bucket('whole')}`);
    expect(await Array.fromAsync(store.list(''))).toMatchObject([{ key: 'a', sizeBytes: 1 }]);
  });

  test('a list omits neighbouring folders and the folder markers of the console', async () => {
    const store = await makeStore();
    const folder = store.location.replace(`s3://${bucket}/`, '');
    await store.put('a', Buffer.from('x'));
    for (const key of [`${folder}/`, `${folder}/sub/`, `${folder}0/b`]) {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: Buffer.alloc(0) }));
    }

    const listed = await Array.fromAsync(store.list(''));

    expect(listed).toMatchObject([{ key: 'a', sizeBytes: 1 }]);
    expect(listed).toHaveLength(1);
  });

  test('tagging a prefix replaces all tags of every object under it, and of no object beside it', async () => {
    const store = await makeStore();
    const folder = store.location.replace(`s3://${bucket}/`, '');
    const tagsOf = async (key: string) =>
      (await client.send(new GetObjectTaggingCommand({ Bucket: bucket, Key: `${folder}/${key}` }))).TagSet;
    const keys = Array.from({ length: 20 }, (_, index) => `run=a/part-${index}`);
    for (const key of [...keys, 'run=ab/part-0']) await store.put(key, Buffer.from('x'));

    await store.tagAll?.('run=a/', { name: 'color', value: 'red' });
    await store.tagAll?.('run=a/', { name: 'state', value: 'replaced' });

    for (const key of keys) expect(await tagsOf(key)).toEqual([{ Key: 'state', Value: 'replaced' }]);
    expect(await tagsOf('run=ab/part-0')).toEqual([]);
    expect((await store.get('run=a/part-19'))?.body.toString()).toBe('x');
  });

  test('a list of more than one page loses nothing', async () => {
    const store = await makeStore();
    const keys = Array.from({ length: 1_050 }, (_, index) => `${index % 2 === 0 ? 'a' : 'B'}${index}`);
    const left = [...keys];
    const putting = Array.from({ length: 20 }, async () => {
      for (let key = left.pop(); key !== undefined; key = left.pop()) await store.put(key, Buffer.from(key));
    });
    await Promise.all(putting);

    const listed = await Array.fromAsync(store.list(''));

    expect(listed.map(({ key }) => key)).toEqual(keys.toSorted());
  });

  test('an object has the tag that it is stored with', async () => {
    const store = await makeStore();
    await store.put('tagged', Buffer.from('x'), { tag: { name: 'a-b', value: 'red + blue = a@b' } });
    const place = { Bucket: bucket, Key: `${store.location.replace(`s3://${bucket}/`, '')}/tagged` };

    const { TagSet } = await client.send(new GetObjectTaggingCommand(place));

    expect(TagSet).toEqual([{ Key: 'a-b', Value: 'red + blue = a@b' }]);
  });

  test('an object that is deleted before it is tagged is skipped', async () => {
    const store = await makeStore();
    await store.put('run=a/part-0', Buffer.from('x'));
    const folder = store.location.replace(`s3://${bucket}/`, '');
    const deleting = createS3Client(aws.settings);
    deleting.middlewareStack.add(
      (next, context) => async (args) => {
        if (context.commandName === 'PutObjectTaggingCommand') await store.delete('run=a/part-0');
        return await next(args);
      },
      { step: 'initialize' },
    );

    const late = createS3Store({ client: deleting, bucket, prefix: folder });

    await expect(late.tagAll?.('run=', { name: 'a', value: 'b' })).resolves.toBeUndefined();
  });

  test.for([1, 9 * 1024 * 1024])(
    'a put of %i bytes whose response was lost recognizes its own object',
    async (sizeBytes) => {
      const lost: string[] = [];
      const flaky = spyClient(
        () => {},
        (command) => {
          if (lost.length > 0 || !['PutObjectCommand', 'CompleteMultipartUploadCommand'].includes(command))
            return;
          lost.push(command);
          throw brokenConnection();
        },
      );
      const store = createS3Store({ client: flaky, bucket, prefix: `lost/${sizeBytes}` });

      const result = await store.put('a', Buffer.alloc(sizeBytes, 'x'), { condition: { ifAbsent: true } });
      const second = await store.put('a', Buffer.alloc(sizeBytes, 'y'), { condition: { ifAbsent: true } });

      expect(lost).toHaveLength(1);
      expect(result).toEqual({ kind: 'stored', etag: (await store.get('a'))?.etag });
      expect(second).toEqual({ kind: 'condition-failed' });
    },
  );

  test('a lasting conflict is an error, not a failed condition', async () => {
    const busy = spyClient(() => {
      throw s3Error('ConditionalRequestConflict', 409);
    });
    const store = createS3Store({ client: busy, bucket });

    const put = store.put('a', Buffer.from('x'), { condition: { ifAbsent: true } });

    await expect(put).rejects.toMatchObject({
      failure: { kind: 'busy', code: 'ConditionalRequestConflict' },
    });
  });

  test('the parts of a refused upload are discarded', async () => {
    const sent: string[] = [];
    const store = createS3Store({
      client: spyClient((command) => sent.push(command)),
      bucket,
      prefix: 'parts',
    });
    await store.put('a', Buffer.from('x'));

    const result = await store.put('a', Buffer.alloc(9 * 1024 * 1024), { condition: { ifAbsent: true } });

    expect(result).toEqual({ kind: 'condition-failed' });
    expect(sent.at(-1)).toBe('AbortMultipartUploadCommand');
  });

  test('a failed upload reports the refused part, although its parts cannot be discarded', async () => {
    const refusing = spyClient((command) => {
      if (command === 'UploadPartCommand') throw s3Error('AccessDenied', 403);
      if (command === 'AbortMultipartUploadCommand') throw s3Error('NoSuchUpload', 404);
    });
    const store = createS3Store({ client: refusing, bucket, prefix: 'refused-parts' });

    const putting = store.put('large', Buffer.alloc(20 * 1024 * 1024));

    await expect(putting).rejects.toMatchObject({ failure: { kind: 'denied', code: 'AccessDenied' } });
  });

  test('a bucket that does not exist is reported as missing, not as an absent object', async () => {
    const store = createS3Store({ client, bucket: 'no-such-bucket' });

    const calls = [
      () => store.get('a'),
      () => store.put('a', Buffer.from('x')),
      () => Array.fromAsync(store.list('')),
    ];

    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ failure: { kind: 'missing', what: 'bucket' } });
    }
  });

  test('an endpoint that nothing listens on is unreachable', async () => {
    const unreachable = { ...aws.settings, AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' };
    const store = createS3Store({ client: createS3Client(unreachable), bucket });

    const found = store.get('a');

    await expect(found).rejects.toMatchObject({ failure: { kind: 'unreachable', code: 'ECONNREFUSED' } });
  });

  test.for([
    ['x', '', ['s3.test:443']],
    ['x'.repeat(3 * 1024 * 1024), '', ['s3.test:443']],
    ['x', 's3.test', []],
  ] as const)(
    'over HTTPS the proxy is used unless NO_PROXY names the host',
    async ([body, noProxy, expected]) => {
      const requested: (string | undefined)[] = [];
      const proxy = createServer().on('connect', (request, socket) => {
        requested.push(request.url);
        socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      });
      await using served = await listening(proxy);
      const environment = {
        ...aws.settings,
        AWS_ENDPOINT_URL_S3: 'https://s3.test',
        HTTPS_PROXY: `http://127.0.0.1:${served.port}`,
        NO_PROXY: noProxy,
      };
      const store = createS3Store({ client: createS3Client(environment), bucket });

      const put = store.put('a', Buffer.from(body));

      await expect(put).rejects.toMatchObject({ failure: { kind: 'unreachable' } });
      expect(requested).toEqual(expected);
    },
  );
});
