import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { planPrune, pruneRuns } from '../../lib/snapshot/history/prune.ts';
import { changesKey, parquetFolder, publishedFolder, type Run } from '../../lib/snapshot/keys.ts';
import { publishedRuns } from '../../lib/snapshot/manifest.ts';
import { publishRun } from '../../lib/snapshot/publish/publish.ts';
import { readLastPublication } from '../../lib/snapshot/publish/publish-parts.ts';
import { startRun } from '../../lib/snapshot/run/begin-run.ts';
import type { Store } from '../../lib/store/store.ts';
import { monday, publishLines, tuesday, wednesday } from '../snapshot/changes/publish-lines.ts';
import { finishedRun } from '../snapshot/publish/finished-run.ts';
import { beforeEvery, beforeFirst } from '../store/before.ts';
import { createMemoryStore, type MemoryStore } from '../store/memory-store.ts';
import { atEachOperation } from '../tables/build/killed-at.ts';
import { runCommand } from './run-command.ts';

type PruneOptions = Parameters<typeof pruneRuns>[0];

const NOW = Date.parse('2026-12-01T00:00:00Z');
const PLACE = 'calculations';
const thursday: Run = { id: '20261119T090000Z-dddddd', startedAt: '2026-11-19T09:00:00.000Z' };

let store: MemoryStore;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  store = createMemoryStore();
  for (const run of [monday, tuesday, wednesday]) await publishWhole(run);
});

afterEach(() => void vi.useRealTimers());

/** Publishes a run with every kind of object that a run may have. */
async function publishWhole(run: Run): Promise<void> {
  const key = changesKey(PLACE, run, 'another', '0');
  const changes = { against: 'another', added: 0, removed: 0, changed: 0, key };
  await publishLines(store, { run, lines: ['{"id":1}'], manifest: { changes } });
  await store.put(`${parquetFolder(PLACE, run)}part-00000-aa.parquet`, Buffer.from('x'));
  await store.put(key, Buffer.from('x'));
  await store.put(`work/${PLACE}/${run.id}/publish/part-00000.json`, Buffer.from('{}'));
}

const keysOf = ({ id }: Run) =>
  [...store.objects.keys()].filter((key) => key.replace(/against=.*/, '').includes(id));

const published = async () => (await publishedRuns(store, PLACE)).map(({ run }) => run);

async function prune(...argv: readonly string[]) {
  return runCommand(['prune', '--yes', ...argv], {}, '', { openStore: async () => store });
}

const plan = (keep = 1) => planPrune({ store, place: PLACE, rule: { kind: 'keep', keep }, nowMs: NOW });

/** Deletes the runs that a new plan names. */
const execute = async (differences: Partial<PruneOptions> = {}) =>
  pruneRuns({
    store,
    ...(await plan()),
    removePartition: undefined,
    signal: new AbortController().signal,
    onRemoved: () => undefined,
    ...differences,
  });

test('--keep N keeps the newest runs, and deletes all objects of the others, including the lists of what their records use', async () => {
  await store.put(`parquet/uses/${publishedFolder(PLACE, monday)}part-00000-aa.parquet`, Buffer.from('x'));

  const { code, out } = await prune('--keep', '2', '--json');

  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    dryRun: false,
    runs: [{ source: PLACE, run: monday.id, state: 'published', objects: 6 }],
    kept: [],
    objects: 6,
  });
  expect(keysOf(monday)).toEqual([]);
  expect(keysOf(tuesday)).toHaveLength(5);
  expect(await published()).toEqual([wednesday.id, tuesday.id]);
});

test('--older-than removes runs that started before; the newest run always stays', async () => {
  const some = await prune(PLACE, '--older-than', '2026-11-17');
  const all = await prune(PLACE, '--older-than', '2026-11-30');

  expect([some.code, all.code]).toEqual([0, 0]);
  expect(some.out).toMatch(
    /^deleted calculations 20261116\S+ \(published\): 5 objects, .* kB\n1 run, 5 objects/,
  );
  expect(all.out).toContain(tuesday.id);
  expect(await published()).toEqual([wednesday.id]);
});

test('an age is counted back from the newest run of the store, so that a fast clock makes no run old', async () => {
  vi.setSystemTime(NOW + 365 * 86_400_000);

  const none = await prune(PLACE, '--older-than', '2d');
  const one = await prune(PLACE, '--older-than', '25h');

  expect([none.code, one.code]).toEqual([0, 0]);
  expect(none.out).toBe('0 runs, 0 objects, 0.0 kB');
  expect(await published()).toEqual([wednesday.id, tuesday.id]);
});

test('--dry-run lists what would be removed, and removes nothing', async () => {
  const before = [...store.objects.keys()];

  const { code, out } = await prune('--keep', '1', '--dry-run');

  expect(code).toBe(0);
  expect(out.split('\n')).toEqual([
    expect.stringContaining(`would delete calculations ${tuesday.id} (published): 5 objects`),
    expect.stringContaining(`would delete calculations ${monday.id}`),
    expect.stringMatching(/^2 runs, 10 objects, .* kB; nothing was deleted$/),
  ]);
  expect([...store.objects.keys()]).toEqual(before);
});

test.each([
  ['latest.json', `${PLACE}/latest.json`],
  ['the manifest of the newest run', `${publishedFolder(PLACE, wednesday)}_manifest.json`],
])('if %s is damaged, nothing of the place is deleted, and prune exits 3', async (_, key) => {
  await store.put(key, Buffer.from('{'));
  const before = [...store.objects.keys()];

  const { code, err } = await prune('--keep', '1');

  expect(code).toBe(3);
  expect(err).toContain(`${PLACE}: nothing deleted: ${key} is not what platform-sync writes there`);
  expect([...store.objects.keys()]).toEqual(before);
});

describe('unpublished runs', () => {
  const begin = (startedAt: string) =>
    startRun(
      { source: PLACE, compression: 'gzip', selection: {}, platform: 'example.com' },
      { store, now: () => Date.parse(startedAt), random: Math.random },
    );

  test('stay while they may still be in progress, however far the clock is ahead', async () => {
    const { run } = (await begin('2026-11-18T10:00:00Z')).checkpoint;
    vi.setSystemTime(NOW + 365 * 86_400_000);

    await prune('--older-than', '1h');
    await prune('--keep', '1');

    expect([...store.objects.keys()].join()).toContain(run);
  });

  test('are removed if they started before the remaining runs, or after a week if they can still be resumed', async () => {
    const old = (await begin('2026-11-17T10:00:00Z')).checkpoint.run;
    const recent = (await begin('2026-11-30T00:00:00Z')).checkpoint.run;

    const kept = await prune('--keep', '2', '--json');
    const past = await prune('--older-than', '1h', '--json');

    expect(JSON.parse(kept.out).runs.map(({ run }: { run: string }) => run)).toEqual([monday.id]);
    expect(JSON.parse(past.out).runs).toMatchObject([{ run: old, state: 'unfinished' }, { run: tuesday.id }]);
    expect([...store.objects.keys()].join()).toContain(recent);
    expect([...store.objects.keys()].join()).not.toContain(old);
  });
});

test('prune deletes the objects by which a run is found before it deletes the run’s records', async () => {
  store = createMemoryStore();
  for (const run of [monday, wednesday]) await publishWhole(run);
  const done: string[] = [];
  const removePartition: PruneOptions['removePartition'] = async (_place, { id, startedAt }) =>
    void done.push(`partition ${startedAt.slice(0, 10)} ${id}`);

  await execute({ store: beforeEvery(store, 'delete', (key) => done.push(key)), removePartition });

  const folder = publishedFolder(PLACE, monday);
  expect(done.slice(0, 2)).toEqual([`partition 2026-11-16 ${monday.id}`, `${folder}_manifest.json`]);
  expect(done.filter((key) => key.includes('part-')).length).toBeGreaterThan(1);
});

test('if prune is killed at any operation, the next prune continues, and no half-deleted run is listed', async () => {
  const begin = async () => {
    vi.setSystemTime(NOW);
    store = createMemoryStore();
    for (const run of [monday, wednesday]) await publishWhole(run);
    return store;
  };

  const operations = await atEachOperation(
    begin,
    (killed) => execute({ store: killed }),
    async (_, at) => {
      if ((await published()).includes(monday.id)) expect(keysOf(monday), at).toHaveLength(5);
      await execute();
      expect(keysOf(monday), at).toEqual([]);
      expect(await published(), at).toEqual([wednesday.id]);
      expect(keysOf(wednesday), at).toHaveLength(5);
    },
  );

  expect(operations).toBeGreaterThan(5);
});

/** Plans to remove Monday's run from a store that also has Thursday's. */
async function planned() {
  store = createMemoryStore();
  await publish(monday);
  await publish(thursday);
  return (await plan()).runs;
}

test('a run that is published again before prune removes it from latest.json stays', async () => {
  const runs = await planned();
  const racing = beforeFirst(
    store,
    'put',
    (key) => key === `${PLACE}/latest.json`,
    () => publish(monday, true),
  );

  const needed = await execute({ store: racing, runs });

  expect(needed).toEqual([{ run: monday.id, reason: 'it has been published again' }]);
  expect(await published()).toEqual([monday.id, thursday.id]);
  expect((await readLastPublication(store, PLACE)).broken).toBeUndefined();
});

test('a run that is first published while prune runs, and then replaced by a later one, stays', async () => {
  store = createMemoryStore();
  await publish(monday);
  const refused = await publishRun({
    ...{ store, source: PLACE, run: tuesday, force: false },
    finished: await finishedRun(store, tuesday, { records: 1 }),
  });
  expect(refused.kind).toBe('refused');
  await store.put(`${publishedFolder(PLACE, tuesday)}part-00000-aa.ndjson.gz`, Buffer.from('x'));
  await publish(thursday);
  const { runs } = await plan();
  await publish(tuesday, true);
  await publish(thursday, true);

  const needed = await execute({ runs: runs.filter(({ run }) => run === tuesday.id) });

  expect(needed).toEqual([{ run: tuesday.id, reason: 'it has been published again' }]);
  expect(await published()).toContain(tuesday.id);
});

test('a publisher that read latest.json before prune removed the run from it cannot move it afterwards', async () => {
  const runs = await planned();
  const slow = beforeFirst(
    store,
    'put',
    (key) => key === `${PLACE}/latest.json`,
    () => execute({ runs }),
  );

  const forced = publish(monday, true, slow);

  await expect(forced).rejects.toThrow('was deleted by platform-sync prune');
  expect(await published()).toEqual([thursday.id]);
});

test('nothing outside work/ is deleted if latest.json is missing', async () => {
  const { runs } = await plan();
  await store.delete(`${PLACE}/latest.json`);

  const needed = await execute({ runs });

  expect(needed).toEqual(runs.map(({ run }) => ({ run, reason: `${PLACE}/latest.json no longer exists` })));
  expect(keysOf(monday)).toHaveLength(5);
});

test('at Ctrl-C prune completes the deletion of the current run, and deletes no other run', async () => {
  const stop = new AbortController();
  const removed: string[] = [];
  const onRemoved = ({ run }: { readonly run: string }) => {
    removed.push(run);
    stop.abort();
  };

  await expect(execute({ signal: stop.signal, onRemoved })).rejects.toThrow();

  expect(removed).toEqual([tuesday.id]);
  expect(await published()).toEqual([wednesday.id, monday.id]);
  expect(keysOf(tuesday)).toEqual([]);
});

test('if the store fails before anything was removed, nothing changes', async () => {
  const ended = beforeFirst(
    store,
    'put',
    () => true,
    () => expect.fail('no response'),
  );

  await expect(execute({ store: ended })).rejects.toThrow('no response');

  expect(await published()).toEqual([wednesday.id, tuesday.id, monday.id]);
});

test('if the store fails while a run is removed, the next prune removes the rest of that run, and no other run', async () => {
  const failing = beforeFirst(
    store,
    'delete',
    (key) => key.includes('part-'),
    () => expect.fail('no response'),
  );

  await expect(execute({ store: failing })).rejects.toThrow('no response');

  expect(await published()).toEqual([wednesday.id, monday.id]);
  expect((await plan(9)).runs).toMatchObject([{ run: tuesday.id, state: 'half-pruned' }]);
});

test('two concurrent prunes both remove the run, and neither harms a run published afterwards', async () => {
  const runs = await planned();
  const slow = beforeFirst(
    store,
    'delete',
    (key) => key.includes('part-'),
    async () => {
      expect(await execute({ runs })).toEqual([]);
      await expect(publish(monday, true)).rejects.toThrow('was deleted by platform-sync prune');
      await publish(wednesday, true);
    },
  );

  expect(await execute({ store: slow, runs })).toEqual([]);

  expect(keysOf(monday).filter((key) => !key.startsWith('work/'))).toEqual([]);
  expect((await readLastPublication(store, PLACE)).broken).toBeUndefined();
});

async function publish(run: Run, force = false, to: Store = store) {
  const finished = await finishedRun(store, run, {});
  return publishRun({ store: to, source: PLACE, run, finished, force, now: () => NOW });
}

test.each(['calculations', 'calculations.mine'] as const)(
  'a run of %s stays while the tables of the latest run of its source still contain it',
  async (place) => {
    store = createMemoryStore();
    for (const run of [monday, tuesday, wednesday]) await publishLines(store, { place, run });
    const file = `s3://bucket/sync/${parquetFolder(place, tuesday)}part-00000.parquet\n`;
    await store.put('parquet/latest/calculations/symlink.txt', Buffer.from(file));

    const { code, err } = await prune('--keep', '1');

    expect(code).toBe(0);
    expect(err).toContain(
      `${place}: ${tuesday.id} is not deleted: the table of the latest run still reads it`,
    );
    expect((await publishedRuns(store, place)).map(({ run }) => run)).toEqual([wednesday.id, tuesday.id]);
  },
);
