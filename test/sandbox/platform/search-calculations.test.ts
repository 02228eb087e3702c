import { describe, expect, test } from 'vitest';
import { call, search, smallPlatform } from './call-platform.ts';

const path = '/api/query/v1/functions/search';
const byId = { field: 'id', ascending: true };

describe('searching calculations:', () => {
  test('the pages together contain every record once, in order', async () => {
    const platform = smallPlatform();

    const first = await search(platform, { limit: 150 });
    const second = await search(platform, { limit: 150, offset: 150 });
    const third = await search(platform, { limit: 150, offset: 300 });

    expect([first.hasMore, second.hasMore, third.hasMore]).toEqual([true, true, false]);
    expect([...first.results, ...second.results, ...third.results]).toEqual((await search(platform)).results);
    expect(third.totalHits).toBe(400);
  });

  test('the served rows are the true state, byte for byte', async () => {
    const platform = smallPlatform();

    const { text } = await call(platform, { path, body: { filters: [], sort: byId, limit: 5000 } });

    expect(text).toBe(
      `{"totalHits":400,"results":[${[...platform.calculations()].join(',')}],"hasMore":false,"degraded":false}`,
    );
  });

  test('without a sort there are no results and no error', async () => {
    const { status, json } = await call(smallPlatform(), { path, body: { filters: [], limit: 10 } });

    expect(status).toBe(200);
    expect(json).toEqual({ totalHits: 0, results: [], hasMore: false, degraded: false });
  });

  test('names are ordered in both directions, ignoring case', async () => {
    const platform = smallPlatform();

    const up = await search(platform, { sort: { field: 'NAME', ascending: true } });
    const down = await search(platform, { sort: { field: 'name', ascending: false } });

    const names = up.results.map(({ name }) => name.toLowerCase());
    expect(names).toEqual(names.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
    expect(down.results).toEqual(up.results.toReversed());
  });

  test('a page in descending order starts at the end', async () => {
    const platform = smallPlatform();
    const all = (await search(platform)).results.toReversed();

    const page = await search(platform, {
      sort: { field: 'created', ascending: false },
      limit: 7,
      offset: 5,
    });

    expect(page.results).toEqual(all.slice(5, 12));
    expect(
      (await search(platform, { sort: { field: 'id', ascending: false }, limit: 7, offset: 396 })).results,
    ).toEqual(all.slice(396));
  });

  test('a name matches anywhere, ignoring case', async () => {
    const { results, totalHits } = await search(smallPlatform(), { name: 'tOtAl' });

    expect(results.length).toBeGreaterThan(0);
    expect(totalHits).toBe(results.length);
    expect(results.every(({ name }) => name.toLowerCase().includes('total'))).toBe(true);
  });

  test.each([
    ['an unknown sort field', { filters: [], limit: 1, sort: { field: 'owner', ascending: true } }],
    ['an unknown filter field', { filters: [{ field: 'colour' }], limit: 1, sort: byId }],
    [
      'a property of every object as a filter field',
      { filters: [{ field: 'constructor' }], limit: 1, sort: byId },
    ],
    ['a limit of 0', { filters: [], limit: 0, sort: byId }],
    ['a limit of 5001', { filters: [], limit: 5001, sort: byId }],
    ['no limit', { filters: [], sort: byId }],
    ['no filters', { limit: 1, sort: byId }],
    ['a negative offset', { filters: [], limit: 1, offset: -1, sort: byId }],
    ['a sort without a direction', { filters: [], limit: 1, sort: { field: 'id' } }],
    ['an unknown member', { filters: [], limit: 1, sort: byId, page: 2 }],
    ['a list as the body', []],
  ])('%s gets 400', async (_, body) => {
    const { status } = await call(smallPlatform(), { path, body });

    expect(status).toBe(400);
  });

  test('a page past the end is empty, and says hasMore only if so configured', async () => {
    const usual = await search(smallPlatform(), { offset: 400 });
    const odd = await search(smallPlatform({ hasMoreWhenEmpty: true }), { offset: 400 });

    expect(usual).toEqual({ totalHits: 400, results: [], hasMore: false, degraded: false });
    expect(odd).toEqual({ totalHits: 400, results: [], hasMore: true, degraded: false });
  });

  test('a cap shortens the pages, which then say that there are more', async () => {
    const { results, hasMore } = await search(smallPlatform({ pageCap: 30 }), { limit: 100 });

    expect(results).toHaveLength(30);
    expect(hasMore).toBe(true);
  });

  test('a request sorted by a refused field gets 400, and sorting by other fields still works', async () => {
    const platform = smallPlatform({ refusedSortFields: ['id'] });

    const refused = await call(platform, { path, body: { filters: [], limit: 1, sort: byId } });
    const created = await search(platform, { sort: { field: 'created', ascending: true } });

    expect(refused.status).toBe(400);
    expect(created.results).toHaveLength(400);
  });

  test('a degraded page lacks rows and says that it is degraded', async () => {
    const { results, degraded, totalHits } = await search(smallPlatform({ degraded: 1 }));

    expect(degraded).toBe(true);
    expect(results.length).toBeLessThan(400);
    expect(results.length).toBeGreaterThan(300);
    expect(totalHits).toBe(400);
  });

  test('the configured share of the pages is degraded, the same ones for the same seed', async () => {
    const pages = async () => {
      const platform = smallPlatform({ degraded: 0.3 });
      return Promise.all(Array.from({ length: 100 }, () => search(platform, { limit: 10 })));
    };

    const first = (await pages()).map(({ degraded }) => degraded);
    const again = (await pages()).map(({ degraded }) => degraded);

    expect(again).toEqual(first);
    expect(first.filter(Boolean).length).toBeGreaterThan(15);
    expect(first.filter(Boolean).length).toBeLessThan(45);
  });

  test('if the sandbox ignores the requested order, it returns the same rows in another order', async () => {
    const ids = (await search(smallPlatform({ ignoreOrder: true }))).results.map(({ id }) => String(id));
    const sorted = (await search(smallPlatform())).results.map(({ id }) => String(id));

    expect(ids).not.toEqual(sorted);
    expect(ids.toSorted()).toEqual(sorted.toSorted());
  });
});
