import { expect, test } from 'vitest';
import { latestKey, publishedFolder, wasLatestKey, wasPerhapsLatestKey } from '../../../lib/snapshot/keys.ts';
import { type Latest, readLatest } from '../../../lib/snapshot/manifest.ts';
import {
  deleteManifest,
  markLatest,
  refreshLatest,
  storeManifest,
} from '../../../lib/snapshot/publish/manifest-key.ts';
import { printStoredLine, type Store } from '../../../lib/store/index.ts';
import { beforeFirst } from '../../store/before.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { monday } from './finished-run.ts';

const place = 'calculations';
const folder = publishedFolder(place, monday);
const body = Buffer.from('{}');
const store = storeOfEach();

/** Stores a manifest that `latest.json` names, and one of a publisher that lost. */
async function twoManifests() {
  const manifest = await storeManifest(store, place, monday, body);
  const lost = await storeManifest(store, place, monday, body);
  const latest: Latest = { run: monday.id, manifest, startedAt: monday.startedAt };
  await store.put(latestKey(place), printStoredLine(latest));
  return { latest, lost };
}

test('each publication of a run has a manifest of its own', async () => {
  const { latest, lost } = await twoManifests();

  expect(latest.manifest).toBe(`${folder}_manifest.json`);
  expect(lost).toMatch(/_manifest-[0-9a-f]{8}\.json$/);
});

test('once latest.json is stored again, nobody moves it who read it before', async () => {
  const { latest } = await twoManifests();
  const before = await store.get(latestKey(place));

  expect(await refreshLatest({ store, place })).toEqual(latest);

  const condition = { ifMatch: before?.etag ?? '' };
  expect(await store.put(latestKey(place), body, { condition })).toEqual({ kind: 'condition-failed' });
});

test('however often latest.json is stored again, it never is as it was, and one line', async () => {
  await twoManifests();
  const bodies: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    await refreshLatest({ store, place });
    bodies.push(String(store.objects.get(latestKey(place))));
  }

  expect(new Set(bodies).size).toBe(4);
  expect(bodies.join('').match(/\n/g)).toHaveLength(4);
});

test('latest.json that is moved meanwhile is stored again as it is then', async () => {
  const { lost } = await twoManifests();
  const moved: Latest = { run: monday.id, manifest: lost, startedAt: monday.startedAt };
  const meanwhile = beforeFirst(
    store,
    'put',
    (key) => key === latestKey(place),
    () => store.put(latestKey(place), printStoredLine(moved)),
  );

  expect(await refreshLatest({ store: meanwhile, place })).toEqual(moved);

  expect(await readLatest(store, place)).toMatchObject(moved);
});

test('latest.json that is moved 20 times in a row is not stored again', async () => {
  await twoManifests();
  let moves = 0;
  const losing: Store = {
    ...store,
    put: async () => {
      moves += 1;
      return { kind: 'condition-failed' };
    },
  };

  await expect(refreshLatest({ store: losing, place })).rejects.toThrow(
    'moved by publishers 20 times in a row',
  );

  expect(moves).toBe(20);
});

test('where nothing is published, nothing is stored again', async () => {
  expect(await refreshLatest({ store, place })).toBeUndefined();
  expect(await store.get(latestKey(place))).toBeUndefined();
});

test('a manifest that was withdrawn leaves its name to no other', async () => {
  await deleteManifest(store, await storeManifest(store, place, monday, body));

  expect(await storeManifest(store, place, monday, body)).toMatch(/_manifest-[0-9a-f]{8}\.json$/);
});

test('of a run with several manifests, only the one that latest.json names is marked as published', async () => {
  const { latest, lost } = await twoManifests();

  await markLatest(store, place, { latest, next: 'another' });

  expect(await store.get(wasLatestKey(latest.manifest))).toBeDefined();
  expect(await store.get(wasLatestKey(lost))).toBeUndefined();
});

test('where nobody can read what was published, every run with a manifest stays published', async () => {
  const { latest, lost } = await twoManifests();

  await markLatest(store, place, { latest: undefined, next: lost });

  expect(await store.get(wasPerhapsLatestKey(latest.manifest))).toBeDefined();
  expect(await store.get(wasPerhapsLatestKey(lost))).toBeUndefined();
});

test.each([wasLatestKey, wasPerhapsLatestKey])(
  'a manifest that was never published goes with its mark',
  async (markOf) => {
    const { lost } = await twoManifests();
    await store.put(markOf(lost), body);

    await deleteManifest(store, lost);

    expect(await store.get(lost)).toBeUndefined();
    expect(await store.get(markOf(lost))).toBeUndefined();
  },
);
