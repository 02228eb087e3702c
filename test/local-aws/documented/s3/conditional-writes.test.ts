import { setImmediate } from 'node:timers/promises';
import { buildApp } from 'fauxqs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startLayer } from '../start-layer.ts';

type Layer = Awaited<ReturnType<typeof startLayer>>;

const put = (layer: Layer, headers: Readonly<Record<string, string>>, body = 'body') =>
  layer.s3('PUT', '/bucket/key', { headers: { 'content-type': 'text/plain', ...headers }, body });

const bodyOf = async ({ s3 }: Layer) => (await s3('GET', '/bucket/key')).body.toString();

describe('with the rule for conditional writes, fauxqs', () => {
  let layer: Layer;

  beforeEach(async () => {
    layer = await startLayer({
      only: ['s3-conditional-writes'],
      // The rule checks by a separate request. Delay each, so that checks of simultaneous writes overlap unless the
      // rule prevents it.
      onAsk: () => setImmediate(),
    });
  });

  afterEach(() => layer[Symbol.asyncDispose]());

  test('responds with 404 to If-Match on a missing object', async () => {
    const response = await put(layer, { 'if-match': '"etag"' });

    expect(response.status).toBe(404);
    expect(response.body.toString()).toContain('<Code>NoSuchKey</Code>');
  });

  test.for([{ 'if-none-match': '"etag"' }, { 'if-none-match': '*', 'if-match': '"etag"' }])(
    'responds with 501 to conditions that S3 does not have: %j',
    async (headers) => {
      const response = await put(layer, headers);

      expect(response.status).toBe(501);
    },
  );

  test('checks the condition of a request to copy', async () => {
    await put(layer, {}, 'first');

    const copy = await put(layer, { 'if-none-match': '*', 'x-amz-copy-source': 'bucket/key' });

    expect(copy.status).toBe(412);
  });

  test('still handles conditional reads', async () => {
    const { headers } = await put(layer, {});

    const read = await layer.s3('GET', '/bucket/key', {
      headers: { 'if-none-match': String(headers['etag']) },
    });

    expect(read.status).toBe(304);
  });

  test('never lets a write over an older etag replace a simultaneous plain write', async () => {
    const rounds = [...Array(100).keys()];

    for (const round of rounds) {
      const { etag } = (await put(layer, {}, `start ${round}`)).headers;
      await Promise.all([
        put(layer, { 'if-match': String(etag) }, 'conditional'),
        put(layer, {}, 'plain'),
        put(layer, { 'if-match': String(etag) }, 'conditional'),
      ]);

      expect(await bodyOf(layer)).toBe('plain');
    }
  });
});

describe('without the rule for conditional writes, fauxqs', () => {
  test('ignores If-None-Match (if it does not, the rule is no longer needed)', async () => {
    await using app = buildApp({ logger: false });
    await app.inject({ method: 'PUT', url: '/bucket' });
    const headers = { 'content-type': 'text/plain', 'if-none-match': '*' };
    const again = () => app.inject({ method: 'PUT', url: '/bucket/key', headers, payload: 'body' });
    await again();

    const second = await again();

    expect(
      second.statusCode,
      'fauxqs now honours conditional writes: delete test/local-aws/documented/s3/conditional-writes.ts',
    ).toBe(200);
  });
});

test('a conditional write that loses to a simultaneous one is occasionally refused as a conflict', async () => {
  await using layer = await startLayer({ only: ['s3-writes-conflict', 's3-conditional-writes'] });
  const statuses = new Set<number>();

  for (let round = 0; round < 20; round += 1) {
    const writes = ['a', 'b'].map((writer) =>
      layer.s3('PUT', `/bucket/${round}`, { headers: { 'if-none-match': '*' }, body: writer }),
    );
    for (const { status } of await Promise.all(writes)) statuses.add(status);
  }

  expect([...statuses].sort()).toEqual([200, 409, 412]);
});
