import { beforeEach, expect, test } from 'vitest';
import { publishedRuns } from '../../../lib/snapshot/changes/published-runs.ts';
import { latestKey } from '../../../lib/snapshot/keys.ts';
import { readLatest } from '../../../lib/snapshot/manifest.ts';
import { publishRun } from '../../../lib/snapshot/publish/publish.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';
import type { PutCondition, PutResult, Store } from '../../../lib/store/store.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { finishedRun, monday, tuesday } from './finished-run.ts';

let store: MemoryStore;

beforeEach(() => {
  store = createMemoryStore();
});

const publish = async (run: Run, to: Store = store) =>
  publishRun({
    store: to,
    source: 'calculations',
    run,
    finished: await finishedRun(store, run),
    force: false,
    now: () => Date.parse('2026-11-21T09:00:00Z'),
  });

type Move = (put: () => Promise<PutResult>, condition: PutCondition | undefined) => Promise<PutResult>;

/** A store in which moves of `latest.json` go this way. */
const moving = (move: Move): Store => ({
  ...store,
  put: (key, body, options) =>
    key === latestKey('calculations')
      ? move(() => store.put(key, body, options), options?.condition)
      : store.put(key, body, options),
});

test('a publisher that loses 20 races in a row gives up, and leaves no manifest', async () => {
  let moves = 0;
  const losing = moving(async () => {
    moves += 1;
    return { kind: 'condition-failed' };
  });

  await expect(publish(monday, losing)).rejects.toThrow(
    'calculations/latest.json was moved by other publishers 20 times in a row; nothing was published',
  );

  expect(moves).toBe(20);
  expect(await publishedRuns(store, 'calculations')).toEqual([]);
});

test('latest.json is moved only if it is as it was read: absent at first, then with its etag', async () => {
  const conditions: (PutCondition | undefined)[] = [];
  const watched = moving((put, condition) => {
    conditions.push(condition);
    return put();
  });

  await publish(monday, watched);
  const etag = (await readLatest(store, 'calculations'))?.etag;
  await publish(tuesday, watched);

  expect(conditions).toEqual([{ ifAbsent: true }, { ifMatch: etag }]);
});

test('a run stays published if another moves latest.json on right after it', async () => {
  const followed = moving(async (put) => {
    const moved = await put();
    await publish(tuesday);
    return moved;
  });

  const publication = await publish(monday, followed);

  expect(publication.kind).toBe('published');
  const runs = await publishedRuns(store, 'calculations');
  expect(runs.map(({ run }) => run).toSorted()).toEqual([monday.id, tuesday.id]);
});

test('if latest.json is deleted meanwhile, the run is published as the first one', async () => {
  await publish(monday);
  let pending = true;
  const deleted = moving(async (put) => {
    if (pending) await store.delete(latestKey('calculations'));
    pending = false;
    return put();
  });

  const publication = await publish(tuesday, deleted);

  expect(publication).toMatchObject({ kind: 'published', manifest: { changes: null } });
});

test('a part of its own that is damaged is thrown, and nothing is published', async () => {
  await publish(monday);
  const finished = await finishedRun(store, tuesday);
  await store.put(finished.parts[0]?.key ?? '', Buffer.from('damaged'));

  await expect(
    publishRun({ store, source: 'calculations', run: tuesday, finished, force: false }),
  ).rejects.toThrow(finished.parts[0]?.key);

  expect((await readLatest(store, 'calculations'))?.run).toBe(monday.id);
});

test('a store that fails while runs are compared says nothing of their parts, so none is read again', async () => {
  const { manifest } = await publish(monday);
  const [part] = manifest.parts;
  let reads = 0;
  const failing: Store = {
    ...store,
    stream: async (key, ...stream) => {
      if (key === part?.key) reads += 1;
      if (key === part?.key) throw new Error('no connection');
      return store.stream(key, ...stream);
    },
  };

  await expect(publish(tuesday, failing)).rejects.toThrow('no connection');

  expect(reads).toBe(1);
});
