import { beforeEach, expect, test } from 'vitest';
import { withdrawLeft } from '../../../lib/snapshot/history/withdraw-left.ts';
import { changesKey, latestKey, publishedFolder } from '../../../lib/snapshot/keys.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { monday, publishFinished, tuesday } from '../publish/finished-run.ts';

const PLACE = 'calculations';
const { signal } = new AbortController();

/** What publishers have left: a manifest that was never published, and changes that none names. */
const LEFT = [
  `${publishedFolder(PLACE, monday)}_manifest-0badcafe.json`,
  changesKey(PLACE, tuesday, 'x', '0'),
];

let store: MemoryStore;

beforeEach(async () => {
  store = createMemoryStore();
  await publishFinished(store, monday);
  await publishFinished(store, tuesday);
  for (const key of LEFT) await store.put(key, Buffer.from('x'));
});

const keysNow = () => [...store.objects.keys()].toSorted();
const withdraw = (to: Store = store) => withdrawLeft({ store: to, place: PLACE, signal });

test('what no published run names goes, and nothing else', async () => {
  const before = keysNow();

  await withdraw();

  expect(keysNow()).toEqual(before.filter((key) => !LEFT.includes(key)));
});

test('of a run whose manifest is damaged, only manifests go: nobody knows which changes it names', async () => {
  await store.put(`${publishedFolder(PLACE, monday)}_manifest.json`, Buffer.from('{'));
  const named = changesKey(PLACE, monday, 'x', '0');
  await store.put(named, Buffer.from('x'));

  await withdraw();

  expect(keysNow()).toContain(named);
  expect(keysNow().filter((key) => LEFT.includes(key))).toEqual([]);
});

test.each([
  ['latest.json is damaged', latestKey(PLACE)],
  ['the newest run is damaged', `${publishedFolder(PLACE, tuesday)}_manifest.json`],
])('nothing goes if %s', async (_, key) => {
  await store.put(key, Buffer.from('{'));
  const before = keysNow();

  await withdraw();

  expect(keysNow()).toEqual(before);
});

test('nothing goes where nothing is published', async () => {
  await store.delete(latestKey(PLACE));
  const before = keysNow();

  await withdraw();

  expect(keysNow()).toEqual(before);
});

test('a store that does not respond is an error, not a damaged run', async () => {
  const away: Store = {
    ...store,
    get: async (key, options) => {
      if (key === `${publishedFolder(PLACE, monday)}_manifest.json`) throw new Error('no response');
      return store.get(key, options);
    },
  };

  await expect(withdraw(away)).rejects.toThrow('no response');
});

test('where nothing is left, latest.json is not stored again', async () => {
  await withdraw();
  const { etag } = (await store.get(latestKey(PLACE))) ?? {};

  await withdraw();

  expect((await store.get(latestKey(PLACE)))?.etag).toBe(etag);
});
