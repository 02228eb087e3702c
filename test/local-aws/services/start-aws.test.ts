import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { openStore } from '../../../lib/store/open.ts';
import { signLink } from '../../../lib/store/s3-link.ts';
import { startAws } from './start-aws.ts';

test('an object can be read with a link, without credentials, until the link expires', async () => {
  await using aws = await startAws({ buckets: ['acme'] });
  const store = await openStore('s3://acme/a b', { s3: aws.settings });
  await store.put('page.html', Buffer.from('hello'), { contentType: 'text/html' });
  const link = (seconds: number) =>
    signLink({ bucket: 'acme', key: 'a b/page.html', seconds, environment: aws.settings });

  const response = await fetch((await link(60)).url);

  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    200,
    'text/html',
    'hello',
  ]);
  expect((await fetch((await link(0)).url)).status).toBe(403);
});

test('the local AWS responds on 127.0.0.1 and on no other address of this machine', async () => {
  await using aws = await startAws({ buckets: [] });
  const { hostname, port } = new URL(aws.endpoint);
  const others = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal);

  const reached = await Promise.allSettled(others.map(({ address }) => fetch(`http://${address}:${port}`)));

  expect(hostname).toBe('127.0.0.1');
  expect((await fetch(aws.endpoint)).status).toBe(403);
  expect(reached.filter(({ status }) => status === 'fulfilled')).toEqual([]);
});
