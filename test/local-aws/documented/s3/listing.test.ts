import { buildApp } from 'fauxqs';
import { expect, test } from 'vitest';
import { startLayer } from '../start-layer.ts';

type Layer = Awaited<ReturnType<typeof startLayer>>;

async function fill({ s3 }: Layer, keys: readonly string[]): Promise<void> {
  for (const key of keys) await s3('PUT', `/bucket/${encodeURI(key)}`, { body: 'x' });
}

async function list({ s3 }: Layer, query: string) {
  const body = (await s3('GET', `/bucket?${query}`)).body.toString('utf8');
  const all = (pattern: RegExp) => [...body.matchAll(pattern)].map(([, text]) => text);
  return {
    keys: all(/<Key>(.*?)</g),
    groups: all(/<CommonPrefixes><Prefix>(.*?)</g),
    next: all(/<Next(?:ContinuationToken|Marker)>(.*?)</g)[0],
  };
}

const onlyListing = { only: ['s3-listing'] } as const;
const KEYS = ['a', 'B', 'b', 'é', 'a%26b'];

test('pages are in the order of bytes and lose nothing', async () => {
  await using layer = await startLayer(onlyListing);
  await fill(layer, KEYS);

  const first = await list(layer, 'list-type=2&max-keys=2');
  const second = await list(
    layer,
    `list-type=2&max-keys=2&continuation-token=${encodeURIComponent(first.next ?? '')}`,
  );
  const third = await list(
    layer,
    `list-type=2&max-keys=2&continuation-token=${encodeURIComponent(second.next ?? '')}`,
  );

  expect([first.keys, second.keys, third.keys]).toEqual([['B', 'a'], ['a%26b', 'b'], ['é']]);
  expect(third.next).toBeUndefined();
});

test('prefix and start-after are respected', async () => {
  await using layer = await startLayer(onlyListing);
  await fill(layer, KEYS);

  const page = await list(layer, 'list-type=2&prefix=a&start-after=a');

  expect(page.keys).toEqual(['a%26b']);
});

test('what keys have up to a delimiter is listed once, counts as one, and is not listed again on the next page', async () => {
  await using layer = await startLayer(onlyListing);
  await fill(layer, ['x/a/1', 'x/a/2', 'x/B', 'x/c/1', 'y']);

  const first = await list(layer, 'list-type=2&prefix=x/&delimiter=/&max-keys=2');
  const second = await list(
    layer,
    `list-type=2&prefix=x/&delimiter=/&max-keys=2&continuation-token=${encodeURIComponent(first.next ?? '')}`,
  );

  expect([first.keys, first.groups]).toEqual([['x/B'], ['x/a/']]);
  expect([second.keys, second.groups, second.next]).toEqual([[], ['x/c/'], undefined]);
});

test('the first version of the list goes on after a marker', async () => {
  await using layer = await startLayer(onlyListing);
  await fill(layer, KEYS);

  const first = await list(layer, 'max-keys=2');
  const second = await list(layer, `max-keys=2&marker=${first.next}`);

  expect([first.keys, second.keys]).toEqual([
    ['B', 'a'],
    ['a%26b', 'b'],
  ]);
});

test('a page has at most 1,000 keys, even if more are asked for', async () => {
  await using layer = await startLayer(onlyListing);
  await fill(
    layer,
    Array.from({ length: 1_001 }, (_, index) => `key-${index}`),
  );

  const page = await list(layer, 'list-type=2&max-keys=5000');

  expect(page.keys).toHaveLength(1_000);
  expect(page.next).toBeDefined();
});

test('without the rule, fauxqs lists by locale, or the rule is no longer needed', async () => {
  await using app = buildApp({ logger: false });
  await app.inject({ method: 'PUT', url: '/bucket' });
  for (const key of KEYS) {
    const headers = { 'content-type': 'text/plain' };
    await app.inject({ method: 'PUT', url: `/bucket/${encodeURI(key)}`, headers, payload: 'x' });
  }

  const { body } = await app.inject({ url: '/bucket?list-type=2' });

  expect(
    /<Key>(.*?)</.exec(body)?.[1],
    'fauxqs now lists in the order of bytes: delete test/local-aws/documented/s3/listing.ts',
  ).toBe('a');
});
