import { setImmediate } from 'node:timers/promises';
import { buildApp } from 'fauxqs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  addConditionalWrites,
  type FauxqsApp,
} from '../../../../lib/sandbox/aws/services/conditional-writes.ts';

const put = (app: FauxqsApp, headers: Readonly<Record<string, string>>, payload = 'body') =>
  app.inject({
    method: 'PUT',
    url: '/bucket/key',
    headers: { 'content-type': 'text/plain', ...headers },
    payload,
  });

const body = async (app: FauxqsApp) => (await app.inject({ method: 'GET', url: '/bucket/key' })).body;

describe('with the hook, fauxqs', () => {
  let app: FauxqsApp;

  beforeEach(async () => {
    app = buildApp({ logger: false });
    addConditionalWrites(app);
    // The hook checks with a HEAD. Delay its response, so that the checks of simultaneous writes overlap if they can.
    app.addHook('onSend', async (request) => {
      if (request.method === 'HEAD') await setImmediate();
    });
    await app.inject({ method: 'PUT', url: '/bucket' });
  });

  afterEach(async () => {
    await app.close();
  });

  test('writes once under If-None-Match: *, and then responds as S3 does', async () => {
    const first = await put(app, { 'if-none-match': '*' }, 'first');
    const second = await put(app, { 'if-none-match': '*' }, 'second');

    expect(first.statusCode).toBe(200);
    expect(second.statusCode).toBe(412);
    expect(second.headers['content-type']).toBe('application/xml');
    expect(second.body).toContain('<Error><Code>PreconditionFailed</Code>');
    expect(await body(app)).toBe('first');
  });

  test('writes under If-Match only over that very object, with the etag quoted or not', async () => {
    const first = await put(app, {}, 'first');
    const etag = String(first.headers.etag);

    const quoted = await put(app, { 'if-match': etag }, 'first');
    const bare = await put(app, { 'if-match': etag.replaceAll('"', '') }, 'second');
    const stale = await put(app, { 'if-match': etag }, 'third');

    expect([quoted.statusCode, bare.statusCode, stale.statusCode]).toEqual([200, 200, 412]);
    expect(await body(app)).toBe('second');
  });

  test('responds with 404 to If-Match on a missing object', async () => {
    const response = await put(app, { 'if-match': '"etag"' });

    expect(response.statusCode).toBe(404);
    expect(response.body).toContain('<Code>NoSuchKey</Code>');
  });

  test.for([{ 'if-none-match': '"etag"' }, { 'if-none-match': '*', 'if-match': '"etag"' }])(
    'responds with 501 to conditions that S3 does not have: %j',
    async (headers) => {
      const response = await put(app, headers);

      expect(response.statusCode).toBe(501);
    },
  );

  test('checks the condition of a copy', async () => {
    await put(app, {}, 'first');

    const copy = await put(app, { 'if-none-match': '*', 'x-amz-copy-source': 'bucket/key' });

    expect(copy.statusCode).toBe(412);
  });

  test('lets conditional reads through to fauxqs', async () => {
    const { headers } = await put(app, {});

    const read = await app.inject({ url: '/bucket/key', headers: { 'if-none-match': String(headers.etag) } });

    expect(read.statusCode).toBe(304);
  });

  test('lets exactly one of several simultaneous writes over one etag win', async () => {
    const rounds = [...Array(100).keys()];

    for (const round of rounds) {
      const { etag } = (await put(app, {}, `start ${round}`)).headers;
      const conditional = ['a', 'b', 'c'].map((writer) => put(app, { 'if-match': String(etag) }, writer));
      const responses = await Promise.all(conditional);

      expect(responses.map(({ statusCode }) => statusCode).sort()).toEqual([200, 412, 412]);
    }
  });

  test('never lets a write over an older etag replace a simultaneous plain write', async () => {
    const rounds = [...Array(100).keys()];

    for (const round of rounds) {
      const { etag } = (await put(app, {}, `start ${round}`)).headers;
      await Promise.all([
        put(app, { 'if-match': String(etag) }, 'conditional'),
        put(app, {}, 'plain'),
        put(app, { 'if-match': String(etag) }, 'conditional'),
      ]);

      expect(await body(app)).toBe('plain');
    }
  });
});

describe('without the hook, fauxqs', () => {
  test('ignores If-None-Match, or the hook is no longer needed', async () => {
    await using app = buildApp({ logger: false });
    await app.inject({ method: 'PUT', url: '/bucket' });
    await put(app, { 'if-none-match': '*' });

    const second = await put(app, { 'if-none-match': '*' });

    expect(
      second.statusCode,
      'fauxqs now honours conditional writes: delete lib/sandbox/aws/services/conditional-writes.ts',
    ).toBe(200);
  });
});
