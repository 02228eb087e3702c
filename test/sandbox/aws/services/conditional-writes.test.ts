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
    // The hook looks by a HEAD: answered late, so that the looks of writes made at once overlap if they can.
    app.addHook('onSend', async (request) => {
      if (request.method === 'HEAD') await setImmediate();
    });
    await app.inject({ method: 'PUT', url: '/bucket' });
  });

  afterEach(async () => {
    await app.close();
  });

  test('writes under If-None-Match: * once and then answers as S3 does', async () => {
    const first = await put(app, { 'if-none-match': '*' }, 'first');
    const second = await put(app, { 'if-none-match': '*' }, 'second');

    expect(first.statusCode).toBe(200);
    expect(second.statusCode).toBe(412);
    expect(second.headers['content-type']).toBe('application/xml');
    expect(second.body).toContain('<Error><Code>PreconditionFailed</Code>');
    expect(await body(app)).toBe('first');
  });

  test('writes under If-Match over that very object, quoted or not, and no other', async () => {
    const first = await put(app, {}, 'first');
    const etag = String(first.headers.etag);

    const quoted = await put(app, { 'if-match': etag }, 'first');
    const bare = await put(app, { 'if-match': etag.replaceAll('"', '') }, 'second');
    const stale = await put(app, { 'if-match': etag }, 'third');

    expect([quoted.statusCode, bare.statusCode, stale.statusCode]).toEqual([200, 200, 412]);
    expect(await body(app)).toBe('second');
  });

  test('answers 404 to If-Match where nothing is', async () => {
    const answer = await put(app, { 'if-match': '"etag"' });

    expect(answer.statusCode).toBe(404);
    expect(answer.body).toContain('<Code>NoSuchKey</Code>');
  });

  test.for([{ 'if-none-match': '"etag"' }, { 'if-none-match': '*', 'if-match': '"etag"' }])(
    'answers 501 to conditions that S3 has not: %j',
    async (headers) => {
      const answer = await put(app, headers);

      expect(answer.statusCode).toBe(501);
    },
  );

  test('looks at the condition of a copy', async () => {
    await put(app, {}, 'first');

    const copy = await put(app, { 'if-none-match': '*', 'x-amz-copy-source': 'bucket/key' });

    expect(copy.statusCode).toBe(412);
  });

  test('lets conditional reads through to fauxqs', async () => {
    const { headers } = await put(app, {});

    const read = await app.inject({ url: '/bucket/key', headers: { 'if-none-match': String(headers.etag) } });

    expect(read.statusCode).toBe(304);
  });

  test('lets exactly one of several writes over one etag at once win', async () => {
    const rounds = [...Array(100).keys()];

    for (const round of rounds) {
      const { etag } = (await put(app, {}, `start ${round}`)).headers;
      const conditional = ['a', 'b', 'c'].map((writer) => put(app, { 'if-match': String(etag) }, writer));
      const answers = await Promise.all(conditional);

      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 412, 412]);
    }
  });

  test('never lets a write over an older etag replace a plain write made at once with it', async () => {
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
  test('ignores If-None-Match, or the hook has done its time', async () => {
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
