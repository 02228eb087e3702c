import { expect, test } from 'vitest';
import { openStore } from '../../lib/store/index.ts';
import { startAws } from '../local-aws/services/start-aws.ts';

const MORE_THAN_A_PART = Buffer.alloc(9 * 1024 * 1024);

const buckets = [
  { name: 'sse', demands: { algorithm: 'AES256' } },
  { name: 'kms', demands: { algorithm: 'aws:kms' } },
  { name: 'key', demands: { algorithm: 'aws:kms', key: 'alias/theirs' } },
];

async function* pieces() {
  yield MORE_THAN_A_PART;
}

test.each([
  ['AES256', 'sse'],
  ['aws:kms', 'kms'],
  ['aws:kms:alias/theirs', 'key'],
])('with %s, every put, stream, multipart upload and copy requests it', async (SYNC_ENCRYPTION, bucket) => {
  await using aws = await startAws({ buckets });
  const store = await openStore(`s3://${bucket}/acme`, { s3: { ...aws.settings, SYNC_ENCRYPTION } });

  await store.put('small', Buffer.from('x'), {
    condition: { ifAbsent: true },
    tag: { name: 'a', value: 'b' },
  });
  await store.put('large', MORE_THAN_A_PART);
  await store.putStream('streamed', pieces());
  await store.copy('small', 'copied');
  await store.tagAll?.('small', { name: 'a', value: 'c' });

  expect((await store.get('copied'))?.body.toString()).toBe('x');
  expect((await Array.fromAsync(store.list(''))).map(({ key }) => key)).toEqual([
    'copied',
    'large',
    'small',
    'streamed',
  ]);
});

test.each([
  ['nothing', ''],
  ['another encryption', 'aws:kms'],
  ['a key that is not wanted', 'aws:kms:alias/ours'],
])('a bucket that requires AES256 refuses %s', async (_, SYNC_ENCRYPTION) => {
  await using aws = await startAws({ buckets });
  const store = await openStore('s3://sse', { s3: { ...aws.settings, SYNC_ENCRYPTION } });
  const denied = { failure: { kind: 'denied' } };

  await expect(store.put('small', Buffer.from('x'))).rejects.toMatchObject(denied);
  await expect(store.put('large', MORE_THAN_A_PART)).rejects.toMatchObject(denied);
  await expect(store.putStream('streamed', pieces())).rejects.toMatchObject(denied);
});
