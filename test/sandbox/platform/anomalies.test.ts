import { expect, test } from 'vitest';
import type { FileRow } from '../../../lib/sandbox/platform/files/file-set.ts';
import type { PlatformOptions } from '../../../lib/sandbox/platform/options.ts';
import { call, type PlatformApp, search, smallPlatform } from './call-platform.ts';

type Page = {
  readonly files: readonly FileRow[];
  readonly pageContext: { readonly next: string | null; readonly total: number };
};

const start = (options: PlatformOptions) =>
  smallPlatform({ fileSets: 1, filesPerSet: 30, calculations: 30, ...options });

async function filesAfter(platform: PlatformApp, next?: string | null): Promise<Page> {
  const query = new URLSearchParams({ limit: '10', ...(next == null ? {} : { next }) });
  const path = `/api/files/v1/filesets/${platform.ids().fileSets[0]}/files/search?${query}`;
  return (await call(platform, { path, body: {} })).json as Page;
}

/** The ids on all pages of files, in order, as a client that follows every new cursor reads them. */
async function listed(platform: PlatformApp): Promise<string[]> {
  const ids: string[] = [];
  let sent: string | null = null;
  for (;;) {
    const { files, pageContext }: Page = await filesAfter(platform, sent);
    ids.push(...files.map(({ id }) => id));
    if (pageContext.next === null || pageContext.next === sent) return ids;
    sent = pageContext.next;
  }
}

const truth = (platform: PlatformApp) => platform.state.fileSets[0]?.rows().map(({ id }) => id) ?? [];

test('an empty page has a new cursor, after which the list continues where it stopped', async () => {
  const platform = start({ plannedAnomalies: { 1: 'empty-page', 3: 'empty-page', 4: 'empty-page' } });

  const first = await filesAfter(platform);
  const ids = await listed(
    start({ plannedAnomalies: { 1: 'empty-page', 3: 'empty-page', 4: 'empty-page' } }),
  );

  expect(first).toMatchObject({ files: [], pageContext: { next: expect.any(String), total: 30 } });
  expect(ids).toEqual(await listed(start({})));
});

test('a page that repeats rows begins with the last row of the previous page', async () => {
  const ids = await listed(start({ plannedAnomalies: { 2: 'repeat' } }));

  expect(ids).toHaveLength(31);
  expect(ids[10]).toBe(ids[9]);
});

test('a file that vanishes is missing from one response, and counted in its total', async () => {
  const platform = start({ plannedAnomalies: { 1: 'vanish' } });

  const flawed = await filesAfter(platform);
  const whole = await filesAfter(platform);

  const missing = whole.files.filter(({ id }) => !flawed.files.some((file) => file.id === id));
  expect(missing).toHaveLength(1);
  expect(flawed.pageContext.total).toBe(30);
});

test('renames between pages lose files and repeat others, while the total stays the same', async () => {
  const runs = await Promise.all(
    Array.from({ length: 20 }, async (_, seed) => {
      const platform = start({ seed, anomalies: 1, anomalyKinds: ['rename'] });
      const ids = await listed(platform);
      return { ids, lost: truth(platform).filter((id) => !ids.includes(id)) };
    }),
  );

  expect(runs.some(({ lost }) => lost.length > 0)).toBe(true);
  expect(runs.some(({ ids }) => new Set(ids).size < ids.length)).toBe(true);
});

test('a new file is on no page until the replica has caught up, but is counted', async () => {
  let now = Date.UTC(2026, 10, 21);
  const platform = start({ lagMs: 5_000, now: () => now });
  platform.state.fileSets[0]?.add();

  const behind = await listed(platform);
  const { pageContext } = await filesAfter(platform);
  now += 5_000;
  const caughtUp = await listed(platform);

  expect(behind).toHaveLength(30);
  expect(pageContext.total).toBe(31);
  expect(caughtUp).toHaveLength(31);
});

test('a new calculation is on no page until the replica has caught up, but is counted', async () => {
  let now = Date.UTC(2026, 10, 21);
  const platform = start({ lagMs: 5_000, now: () => now });
  platform.state.calculations.add();

  const behind = await search(platform);
  now += 5_000;
  const caughtUp = await search(platform);

  expect(behind).toMatchObject({ totalHits: 31, results: { length: 30 } });
  expect(caughtUp).toMatchObject({ totalHits: 31, results: { length: 31 } });
});

test('a calculation that vanishes is missing from one response, and counted in its total', async () => {
  const platform = start({ plannedAnomalies: { 1: 'vanish' } });

  const flawed = await search(platform);
  const whole = await search(platform);

  expect(flawed).toMatchObject({ totalHits: 30, results: { length: 29 } });
  expect(whole).toMatchObject({ totalHits: 30, results: { length: 30 } });
});
