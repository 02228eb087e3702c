import { beforeEach, describe, expect, test } from 'vitest';
import { publishRun } from '../../../lib/snapshot/publish/publish.ts';
import { tagLatestAgain, tagReplaced } from '../../../lib/snapshot/publish/tag-runs.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';
import { StoreError } from '../../../lib/store/error.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { finishedRun } from './finished-run.ts';

const monday: Run = { id: '20261116T090000Z-aaaaaa', startedAt: '2026-11-16T09:00:00.250Z' };
const tuesday: Run = { id: '20261117T090000Z-bbbbbb', startedAt: '2026-11-17T09:00:00.250Z' };
const wednesday: Run = { id: '20261118T090000Z-cccccc', startedAt: '2026-11-18T09:00:00.250Z' };

let store: Store;
/** The tag of each object, as `name=value`. */
let tags: Map<string, string>;
let warnings: string[];

beforeEach(() => {
  tags = new Map();
  warnings = [];
  store = {
    ...createMemoryStore(),
    async tagAll(prefix, { name, value }) {
      for await (const { key } of store.list(prefix)) tags.set(key, `${name}=${value}`);
    },
  };
});

const publish = async (run: Run, to: Store = store, force = false) =>
  publishRun({
    store: to,
    source: 'calculations',
    run,
    finished: await finishedRun(store, run, { records: 1 }),
    force,
    now: () => Date.parse('2026-11-21T09:00:00Z'),
    warn: (what, reason) => warnings.push(`${what}: ${reason.message}`),
  });

/** The tags of a run's objects and of its changes, each once; '' for an object without. */
async function tagsOf({ id }: Run): Promise<readonly string[]> {
  const keys = (await Array.fromAsync(store.list(''))).map(({ key }) => key);
  const own = keys.filter((key) => key.includes(`run=${id}/`) && !key.startsWith('work/'));
  return [...new Set(own.map((key) => tags.get(key) ?? ''))];
}

const replaced = ['platform-sync-run=replaced'];

test('a run is tagged when the next one has replaced it, with its changes; the newest is not', async () => {
  await publish(monday);
  const first = await tagsOf(monday);
  await publish(tuesday);
  await publish(wednesday);

  expect(first).toEqual(['']);
  expect(await tagsOf(monday)).toEqual(replaced);
  expect(await tagsOf(tuesday)).toEqual(replaced);
  expect(await tagsOf(wednesday)).toEqual(['']);
});

test('a run that is replaced although it is broken is tagged too', async () => {
  const { manifest } = await publish(monday);
  await store.delete(manifest.parts[0]?.key ?? '');

  await publish(tuesday, store, true);

  expect(await tagsOf(monday)).toEqual(replaced);
});

test('nothing is tagged before latest.json has moved', async () => {
  await publish(monday);
  const refusing: Store = {
    ...store,
    put: async (key, ...put) => {
      if (key === 'calculations/latest.json') throw new Error('killed');
      return store.put(key, ...put);
    },
  };

  await expect(publish(tuesday, refusing)).rejects.toThrow('killed');

  expect(await tagsOf(monday)).toEqual(['']);
});

test.each([
  ['the next one', wednesday],
  ['the same one again', tuesday],
])('a publisher that was killed before it had tagged is finished by %s', async (_who, next) => {
  await publish(monday);
  const killed: Store = {
    ...store,
    tagAll: async (prefix, tag) => {
      await store.tagAll?.(`${prefix}part`, tag);
      throw new Error('killed');
    },
  };
  await expect(publish(tuesday, killed)).rejects.toThrow('killed');
  const before = await tagsOf(monday);

  await publish(next);

  expect(before).toEqual(['', ...replaced]);
  expect(await tagsOf(monday)).toEqual(replaced);
});

test('what was tagged is not tagged again by the publication after the next', async () => {
  await publish(monday);
  await publish(tuesday);
  tags.clear();

  await publish(wednesday);

  expect(await tagsOf(monday)).toEqual(['']);
  expect(await tagsOf(tuesday)).toEqual(replaced);
});

test('a run that is published again by force loses the tag before latest.json names it', async () => {
  await publish(monday);
  await publish(tuesday);
  let atTheMove: readonly string[] = [];
  const watched: Store = {
    ...store,
    put: async (key, ...put) => {
      if (key === 'calculations/latest.json') atTheMove = await tagsOf(monday);
      return store.put(key, ...put);
    },
  };

  await publish(monday, watched, true);

  expect(atTheMove).not.toContain(replaced[0]);
  expect(await tagsOf(monday)).not.toContain(replaced[0]);
  expect(await tagsOf(tuesday)).toEqual(replaced);
});

test('a run that is forced again after one that it had replaced is never tagged as replaced again', async () => {
  await publish(tuesday);
  await publish(monday, store, true);
  const given: string[] = [];
  const watched: Store = {
    ...store,
    tagAll: async (prefix, tag) => {
      if (prefix.includes(`run=${tuesday.id}/`)) given.push(tag.value);
      await store.tagAll?.(prefix, tag);
    },
  };
  await store.delete(`work/calculations/${monday.id}/publish/tagged-${tuesday.id}.json`);

  await publish(tuesday, watched, true);

  expect([...new Set(given)]).toEqual(['latest']);
});

test('a publisher that is slow to tag does not tag what was forced to be the newest meanwhile', async () => {
  await publish(monday);
  let pending = true;
  const slow: Store = {
    ...store,
    tagAll: async (...tagged) => {
      const isFirst = pending;
      pending = false;
      if (isFirst) await publish(monday, store, true);
      await store.tagAll?.(...tagged);
    },
  };

  await publish(tuesday, slow);

  expect(await tagsOf(monday)).toEqual(['platform-sync-run=latest']);
  expect(await tagsOf(tuesday)).toEqual(replaced);
});

test('without the right to tag, a run is published all the same, with one warning', async () => {
  const denied: Store = {
    ...store,
    tagAll: async (prefix) => {
      throw new StoreError(`tag ${prefix}*`, { kind: 'denied', code: 'AccessDenied' });
    },
  };
  await publish(monday, denied);
  await publish(tuesday, denied);
  warnings = [];

  const publication = await publish(wednesday, denied);

  expect(publication.kind).toBe('published');
  expect(warnings).toEqual([
    'run 20261117T090000Z-bbbbbb of calculations was replaced but could not be tagged, so it will not expire: tag calculations/dt=2026-11-17/run=20261117T090000Z-bbbbbb/*: denied, AccessDenied',
  ]);
});

test('a run that is to be the newest again keeps its tag if the store refuses, which is a warning', async () => {
  const failing = (error: Error): Store => ({ ...store, tagAll: () => Promise.reject(error) });
  const again = (to: Store) =>
    tagLatestAgain({ store: to, place: 'calculations', warn: (what) => warnings.push(what) }, monday);

  await again(failing(new StoreError('tag objects', { kind: 'busy', code: 'SlowDown' })));
  await expect(again(failing(new TypeError('a fault')))).rejects.toThrow('a fault');

  expect(warnings).toEqual([
    `run ${monday.id} of calculations may still have the tag of a replaced run, and expire`,
  ]);
});

describe('a run that was replaced', () => {
  const tagMonday = (by: Run, to: Store = store) =>
    tagReplaced(
      { store: to, place: 'calculations', warn: (what) => warnings.push(what) },
      { replaced: monday, by },
    );

  test('is tagged and recorded although latest.json is gone', async () => {
    expect(await tagMonday(tuesday)).toBe(true);

    const recorded = await store.get(`work/calculations/${tuesday.id}/publish/tagged-${monday.id}.json`);
    expect(JSON.parse(recorded?.body.toString() ?? '')).toEqual({ tagged: monday.id });
  });

  test('needs no tag in a store that has none, and is not recorded', async () => {
    const directory: MemoryStore = createMemoryStore();

    expect(await tagMonday(tuesday, directory)).toBe(true);

    expect(directory.objects.size).toBe(0);
  });

  test('by itself is the newest, and needs none', async () => {
    await store.put('calculations/dt=2026-11-16/run=20261116T090000Z-aaaaaa/part', Buffer.from('a part'));

    expect(await tagMonday(monday)).toBe(true);

    expect(tags.size).toBe(0);
  });
});
