import { describe, expect, test } from 'vitest';
import { startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { call, search, small, smallPlatform } from './call-platform.ts';

describe('the routes for other processes:', () => {
  test('the true state of calculations is every row as it is served, one per line', async () => {
    await using sandbox = await startPlatform({ ...small, calculations: 2500 });

    const response = await fetch(`${sandbox.url}/_sandbox/truth/calculations`);

    expect(response.headers.get('content-type')).toContain('application/x-ndjson');
    expect(await response.text()).toBe([...sandbox.calculations()].map((row) => `${row}\n`).join(''));
  });

  test('the counts can be read, and reading them is not counted', async () => {
    const platform = smallPlatform();
    await search(platform);
    await call(platform, { path: '/api/nothing' });

    const { json } = await call(platform, { path: '/_sandbox/counts' });

    expect(json).toEqual(platform.counts());
    expect(json).toMatchObject({
      requests: 2,
      byOperation: { searchCalculations: { 200: 1 }, unknown: { 404: 1 } },
    });
  });

  test('the ids of records can be read', async () => {
    const platform = smallPlatform();

    const { json } = await call(platform, { path: '/_sandbox/ids' });

    expect(json).toEqual(platform.ids());
    expect(platform.ids()).toMatchObject({
      fileSets: { length: 2 },
      datasets: { length: 12 },
      dataFiles: { length: 6 },
    });
  });

  test('churn runs the given steps, and the records that existed throughout can be read', async () => {
    const platform = smallPlatform();

    const { json } = await call(platform, { path: '/_sandbox/churn', body: { steps: 20 } });
    const lived = await call(platform, {
      path: `/_sandbox/lived-through?from=${small.now() - 1}&to=${small.now() + 1}`,
    });

    expect(Object.values(json as Record<string, number>).reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(lived.json).toEqual(platform.livedThrough(small.now() - 1, small.now() + 1));
  });

  test.each(['{}', '{"steps":-1}', '{"steps":"many"}', 'steps'])('churn by %j gets 400', async (body) => {
    expect((await call(smallPlatform(), { path: '/_sandbox/churn', body })).status).toBe(400);
  });

  test('neither the token, nor the rate, nor faults apply to these routes', async () => {
    const platform = smallPlatform({ rate: 0.001, faults: 1 });
    const headers = { 'x-service-developer-token': '' };

    const responses = await Promise.all(
      [1, 2, 3].map(() => call(platform, { path: '/_sandbox/ids', headers })),
    );

    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});
