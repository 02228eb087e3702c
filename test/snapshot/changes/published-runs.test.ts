import { expect, test } from 'vitest';
import { latestKey, publishedFolder, type Run } from '../../../lib/snapshot/keys.ts';
import { publishedRuns } from '../../../lib/snapshot/manifest.ts';
import { publishRun } from '../../../lib/snapshot/publish/publish.ts';
import type { Store } from '../../../lib/store/store.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { publishedManifest } from '../published-manifest.ts';
import { monday, tuesday, wednesday } from './publish-lines.ts';

/** Three runs that started within one second. The order of their ids differs from that of their starts. */
const first: Run = { id: '20261119T090000Z-dddddd', startedAt: '2026-11-19T09:00:00.100Z' };
const second: Run = { id: '20261119T090000Z-ffffff', startedAt: '2026-11-19T09:00:00.200Z' };
const third: Run = { id: '20261119T090000Z-eeeeee', startedAt: '2026-11-19T09:00:00.300Z' };

const store = storeOfEach();

function publish(run: Run, to: Store = store, force = false) {
  const { id, startedAt } = run;
  const finished = { ...publishedManifest({ run: id, startedAt }), scanRefused: [] };
  return publishRun({ store: to, source: 'calculations', run, finished, force });
}

/** Publishes a run with a publisher that is killed just before it moves `latest.json`. */
async function publishKilled(run: Run): Promise<void> {
  const killed: Store = {
    ...store,
    put: async (key, body, options) => {
      if (key === latestKey('calculations')) throw new Error('killed');
      return store.put(key, body, options);
    },
  };
  await expect(publish(run, killed)).rejects.toThrow('killed');
}

const listed = async () => (await publishedRuns(store, 'calculations')).map(({ run }) => run);

test('no run is listed until latest.json was written once, even if its manifest exists', async () => {
  await publishKilled(monday);

  expect(await listed()).toEqual([]);
});

test('a run whose publisher was killed before moving latest.json is not listed, and can be published later', async () => {
  await publish(monday);
  await publishKilled(tuesday);

  const before = await listed();
  const again = await publish(tuesday);

  expect(before).toEqual([monday.id]);
  expect(again.kind).toBe('published');
  expect(await listed()).toEqual([tuesday.id, monday.id]);
});

test('a run that is not published is not listed either if it started in the same second as the published one', async () => {
  await publish(first);
  await publish(second);
  await publishKilled(third);

  const before = await listed();
  const again = await publish(third);

  expect(before).toEqual([second.id, first.id]);
  expect(again.kind).toBe('published');
  expect((await listed()).toSorted()).toEqual([first.id, third.id, second.id]);
});

test('a run that is not published is not listed either once a later run was published', async () => {
  await publish(monday);
  await publishKilled(tuesday);
  await publish(wednesday);

  expect(await listed()).toEqual([wednesday.id, monday.id]);
});

test('all three runs stay listed if older ones are repeatedly published by force', async () => {
  for (const run of [monday, tuesday, wednesday]) await publish(run);
  for (const run of [monday, tuesday, monday, tuesday, monday]) await publish(run, store, true);

  const runs = await listed();

  expect(runs[0]).toBe(monday.id);
  expect(runs.toSorted()).toEqual([monday.id, tuesday.id, wednesday.id]);
});

test('if latest.json is missing or damaged, every run with a manifest counts as published', async () => {
  for (const run of [monday, tuesday]) await publish(run);
  await store.put(latestKey('calculations'), Buffer.from('{'));
  await publish(wednesday, store, true);
  const damaged = await listed();
  await store.delete(latestKey('calculations'));
  await publish(first);

  expect(damaged).toEqual([wednesday.id, tuesday.id, monday.id]);
  expect(await listed()).toEqual([first.id, wednesday.id, tuesday.id, monday.id]);
});

test('if a run has several manifests, the one that latest.json named counts', async () => {
  const folder = publishedFolder('calculations', monday);
  const other = `${folder}_manifest-00000000.json`;
  await publish(monday);
  await store.put(other, Buffer.from('{}'));
  await publish(tuesday);

  const [, run] = await publishedRuns(store, 'calculations');

  expect(run).toMatchObject({ run: monday.id, manifest: `${folder}_manifest.json` });
});

test('a run that has lost an object is listed as long as its manifest exists', async () => {
  for (const run of [monday, tuesday]) await publish(run);
  const before = await listed();
  await store.delete(`${publishedFolder('calculations', monday)}_manifest.json`);

  expect(before).toEqual([tuesday.id, monday.id]);
  expect(await listed()).toEqual([tuesday.id]);
});

test('earlier publications are known although each publisher dies as soon as it has moved latest.json', async () => {
  for (const run of [monday, tuesday, wednesday]) {
    const killed: Store = {
      ...store,
      put: async (key, body, options) => {
        const put = await store.put(key, body, options);
        if (key === latestKey('calculations')) throw new Error('killed');
        return put;
      },
    };
    await expect(publish(run, killed)).rejects.toThrow('killed');
  }

  expect(await listed()).toEqual([wednesday.id, tuesday.id, monday.id]);
});
