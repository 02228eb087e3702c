import { networkInterfaces } from 'node:os';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { startAws } from '../../../lib/sandbox/aws/start-aws.ts';
import { createS3Client } from '../../../lib/store/s3-client.ts';

test('the local AWS has the buckets it was told to make', async () => {
  await using aws = await startAws({ buckets: ['first', 'second'] });

  const { Buckets } = await createS3Client(aws.settings).send(new ListBucketsCommand({}));

  expect(Buckets?.map(({ Name }) => Name)).toEqual(['first', 'second']);
});

test('the local AWS answers on 127.0.0.1 and on no other address of this machine', async () => {
  await using aws = await startAws({ buckets: [] });
  const { port, hostname } = new URL(aws.endpoint);
  const others = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal);

  const reached = await Promise.allSettled(
    others.map(({ address }) => fetch(`http://${address}:${port}/health`)),
  );

  expect(hostname).toBe('127.0.0.1');
  expect((await fetch(`${aws.endpoint}/health`)).status).toBe(200);
  expect(reached.filter(({ status }) => status === 'fulfilled')).toEqual([]);
});

test("a name that is no bucket's stops the start", async () => {
  const started = startAws({ buckets: ['No_Bucket'] });

  await expect(started).rejects.toThrow(/create the bucket No_Bucket: 400/);
});

test('a port that is taken stops the start', async () => {
  await using aws = await startAws({ buckets: [] });

  const second = startAws({ buckets: [], port: Number(new URL(aws.endpoint).port) });

  await expect(second).rejects.toThrow(/EADDRINUSE/);
});
