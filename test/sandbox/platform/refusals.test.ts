import { describe, expect, test } from 'vitest';
import { call, smallPlatform } from './call-platform.ts';

const searchPath = '/api/query/v1/functions/search';
const search = { filters: [], sort: { field: 'id', ascending: true }, limit: 1 };
const functionPath =
  '/api/codeengine/v2/packages/6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403/versions/1.0.0/functions/addNumbers';
const filesPath = '/api/files/v1/filesets/6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403/files/search';
const sentimentPath = '/api/ai/v1/targeted-sentiment';

describe('the platform refuses:', () => {
  test.each([searchPath, functionPath, filesPath, sentimentPath, '/api/nothing'])(
    '%s without a valid token gets 401',
    async (path) => {
      const platform = smallPlatform();

      const { status, json } = await call(platform, {
        path,
        body: {},
        headers: { 'x-service-developer-token': 'stale' },
      });

      expect(status).toBe(401);
      expect(json).toEqual({
        status: 401,
        statusReason: 'Unauthorized',
        path,
        message: expect.any(String),
        toe: expect.stringMatching(TOE),
      });
    },
  );

  test('the header for the token has the configured name', async () => {
    const platform = smallPlatform({ tokenHeader: 'X-Other-Token', token: 'secret' });

    const usual = await call(platform, { path: searchPath, body: search });
    const other = await call(platform, {
      path: searchPath,
      body: search,
      headers: { 'x-other-token': 'secret' },
    });

    expect([usual.status, other.status]).toEqual([401, 200]);
  });

  test('a token can be revoked between two requests', async () => {
    const platform = smallPlatform();
    const headers = { 'x-service-developer-token': platform.token };

    const before = await call(platform, { path: searchPath, body: search, headers });
    platform.setToken('another');
    const after = await call(platform, { path: searchPath, body: search, headers });

    expect([before.status, after.status]).toEqual([200, 401]);
  });

  test('an unknown path gets 404, and a wrong method gets 405 with the allowed ones', async () => {
    const platform = smallPlatform();

    const path = await call(platform, { path: '/api/query/v9/functions/search', body: search });
    const method = await call(platform, { method: 'DELETE', path: '/api/query/v1/functions/template/1' });

    expect([path.status, method.status]).toEqual([404, 405]);
    expect(method.headers.get('allow')).toBe('POST, PUT');
  });

  test.each(['', '{', 'filters=1', '{"a":1}x'])('a body of %j gets 400', async (body) => {
    const { status, json } = await call(smallPlatform(), { path: searchPath, body });

    expect(status).toBe(400);
    expect(json).toMatchObject({ message: 'the body is not JSON' });
  });

  test('a body over the allowed size gets 413, with or without a content-length', async () => {
    const platform = smallPlatform({ maxBodyBytes: 100 });
    const body = JSON.stringify({ ...search, name: 'x'.repeat(200) });
    const streamed = new Request(`http://sandbox.test${searchPath}`, {
      method: 'POST',
      body: new Blob([body]).stream(),
      headers: { 'x-service-developer-token': platform.token },
      duplex: 'half',
    } as RequestInit);

    const withLength = await call(platform, {
      path: searchPath,
      body,
      headers: { 'content-length': String(body.length) },
    });
    const withoutLength = await platform.fetch(streamed);

    expect([withLength.status, withoutLength.status]).toEqual([413, 413]);
  });

  test('a single id can be forbidden', async () => {
    const [first = '', second = ''] = smallPlatform().ids().datasets;
    const platform = smallPlatform({ forbidden: [first] });

    const responses = await Promise.all(
      [first, second].map((id) => call(platform, { path: `/api/content/v1/datasources/${id}/cards` })),
    );

    expect(responses.map(({ status }) => status)).toEqual([403, 200]);
  });

  test('error references differ between requests, but not between runs', async () => {
    const references = async () => {
      const platform = smallPlatform();
      const one = await call(platform, { path: '/api/x' });
      const two = await call(platform, { path: '/api/x' });
      return [one, two].map(({ json }) => (json as { toe: string }).toe);
    };

    const first = await references();

    expect(new Set(first).size).toBe(2);
    expect(await references()).toEqual(first);
  });
});

const TOE = /^[0-9A-Z]{10}-[0-9A-Z]{5}-[0-9A-Z]{5}$/;
