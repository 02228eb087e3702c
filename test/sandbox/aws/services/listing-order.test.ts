import { buildApp } from 'fauxqs';
import { expect, test } from 'vitest';
import type { FauxqsApp } from '../../../../lib/sandbox/aws/services/conditional-writes.ts';
import { addListingOrder } from '../../../../lib/sandbox/aws/services/listing-order.ts';

async function fill(app: FauxqsApp): Promise<void> {
  await app.inject({ method: 'PUT', url: '/bucket' });
  for (const key of ['a', 'B', 'b', 'é', 'a%26b']) {
    const headers = { 'content-type': 'text/plain' };
    await app.inject({ method: 'PUT', url: `/bucket/${encodeURI(key)}`, headers, payload: 'x' });
  }
}

async function list(app: FauxqsApp, query: string) {
  const { body } = await app.inject({ url: `/bucket?list-type=2&${query}` });
  const token = /<NextContinuationToken>(.*?)</.exec(body)?.[1];
  return { keys: [...body.matchAll(/<Key>(.*?)</g)].map(([, key]) => key), token };
}

test('with the hook, pages are in the order of bytes and lose nothing', async () => {
  await using app = buildApp({ logger: false });
  addListingOrder(app);
  await fill(app);

  const first = await list(app, 'max-keys=2');
  const second = await list(app, `max-keys=2&continuation-token=${encodeURIComponent(first.token ?? '')}`);
  const third = await list(app, `max-keys=2&continuation-token=${encodeURIComponent(second.token ?? '')}`);

  expect([first.keys, second.keys, third.keys]).toEqual([['B', 'a'], ['a%26b', 'b'], ['é']]);
  expect(third.token).toBeUndefined();
});

test('with the hook, prefix and start-after are respected', async () => {
  await using app = buildApp({ logger: false });
  addListingOrder(app);
  await fill(app);

  const page = await list(app, 'prefix=a&start-after=a');

  expect(page.keys).toEqual(['a%26b']);
});

test('without the hook, fauxqs lists by locale, or the hook is no longer needed', async () => {
  await using app = buildApp({ logger: false });
  await fill(app);

  const { keys } = await list(app, '');

  expect(
    keys[0],
    'fauxqs now lists in the order of bytes: delete lib/sandbox/aws/services/listing-order.ts',
  ).toBe('a');
});
