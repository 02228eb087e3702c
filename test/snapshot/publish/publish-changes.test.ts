import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { publishChanges } from '../../../lib/snapshot/changes/changes-between.ts';
import { beforeEvery } from '../../store/before.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { storeRun } from '../changes/stored-run.ts';

type ChangesToPublish = Parameters<typeof publishChanges>[0];

const KEY = 'work/changes.ndjson.gz';
const SCRATCH = 'work/scratch/';

const calculation = (id: number, name: string) => `{"id":${id},"name":"${name}"}`;
const file = (id: string, name: string) => `{"_filesetId":"s","id":"${id}","name":"${name}"}`;

/** Two runs in key order, one record a part: 1 was changed, 2 was not, 3 was removed, and 4 was added. */
async function ordered() {
  const store = createMemoryStore();
  const partsOf = async (run: string, ids: readonly number[], name: string) => {
    const lines = ids.map((id) => calculation(id, id === 2 ? 'same' : name));
    const { parts } = await storeRun(store, run, lines, { partRecords: 1 });
    return parts.map((part, at) => ({ ...part, firstKey: `${ids[at]}`, lastKey: `${ids[at]}` }));
  };
  return optionsOf(store, 'calculations', {
    before: { parts: await partsOf('old', [1, 2, 3], 'old') },
    after: { parts: await partsOf('new', [1, 2, 4], 'new') },
  });
}

/** Two runs of files, which are unordered, with one record in each part. */
async function unordered(old: readonly string[], now: readonly string[]) {
  const store = createMemoryStore();
  return optionsOf(store, 'files', {
    before: await storeRun(store, 'old', old, { partRecords: 1 }),
    after: await storeRun(store, 'new', now, { partRecords: 1 }),
  });
}

const optionsOf = (
  store: MemoryStore,
  source: 'calculations' | 'files',
  runs: Pick<ChangesToPublish, 'before' | 'after'>,
) => ({ store, source, ...runs, key: KEY, scratch: SCRATCH });

const changesIn = ({ objects }: MemoryStore): readonly string[] =>
  gunzipSync(objects.get(KEY) ?? '')
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { change: string }).change);

/** The options, over a store that lists the parts that are read. */
function watched<O extends { readonly store: MemoryStore }>({ store, ...options }: O) {
  const read: string[] = [];
  return { options: { ...options, store: beforeEvery(store, 'stream', (key) => read.push(key)) }, read };
}

test.each(['before', 'after'] as const)(
  'records of an id that the run %s could not read count as unchanged',
  async (side) => {
    const inOrder = await ordered();
    const lines = ['{"_filesetId":"t","id":"1/2","name":"x"}', file('b', 'old')];
    const inNone = await unordered(
      side === 'before' ? [file('a', 'old')] : lines,
      side === 'after' ? [] : lines,
    );
    const without = <O extends ChangesToPublish>(
      options: O,
      ...ids: readonly string[]
    ): ChangesToPublish => ({
      ...options,
      [side]: { ...options[side], missing: ids.map((id) => ({ id, status: 404 })) },
    });

    expect(await publishChanges(without(inOrder, '3', '4'))).toEqual({ added: 0, removed: 0, changed: 1 });
    const { added, removed } = await publishChanges(without(inNone, 't'));
    expect(added + removed).toBe(side === 'before' ? 2 : 1);
  },
);

describe('two runs in nearly the same order', () => {
  test('are read side by side, without the parts that both have', async () => {
    const { options, read } = watched(await ordered());

    const counts = await publishChanges(options);

    expect(counts).toEqual({ added: 1, removed: 1, changed: 1 });
    expect(changesIn(options.store)).toEqual(['changed', 'removed', 'added']);
    expect(read).toHaveLength(4);
  });

  test('may have a part that is out of order', async () => {
    const { before, after, store, ...options } = await ordered();
    const { parts } = await storeRun(store, 'wrong', [calculation(5, 'new'), calculation(4, 'new')]);
    const wrong = parts.map((part) => ({ ...part, firstKey: '4', lastKey: '5' }));

    const counts = await publishChanges({
      ...options,
      store,
      before,
      after: { parts: [...after.parts.slice(0, 2), ...wrong] },
    });

    expect(counts).toEqual({ added: 2, removed: 1, changed: 1 });
    expect(changesIn(store)).toHaveLength(4);
  });
});

test('if nothing changed, the object of changes is valid and compressed, without lines', async () => {
  const { before, ...options } = await ordered();

  const counts = await publishChanges({ ...options, before, after: before });

  expect(counts).toEqual({ added: 0, removed: 0, changed: 0 });
  expect(changesIn(options.store)).toEqual([]);
});

test('changes are stored in frames of at least a megabyte, each of whole lines', async () => {
  const store = createMemoryStore();
  const lines = [1, 1e6, 1, 1e6].map((length, at) => calculation(at, 'x'.repeat(length)));
  const after = await storeRun(store, 'new', lines);
  const frames: number[] = [];
  const putStream: MemoryStore['putStream'] = async (_, pieces) => {
    for await (const piece of pieces) frames.push(gunzipSync(piece).toString().split('\n').length - 1);
  };

  await publishChanges({
    ...optionsOf({ ...store, putStream }, 'calculations', { before: { parts: [] }, after }),
  });

  expect(frames).toEqual([2, 2]);
});

test('runs in different orders are split into buckets in a separate folder', async () => {
  const filesOf = (ids: string, name: string) => [...ids].map((id) => file(id, name));

  const options = { ...(await unordered(filesOf('abc', '1'), filesOf('cba', '2'))), memoryBytes: 800 };

  const counts = await publishChanges(options);
  const first = new Set(options.store.objects.keys());
  await publishChanges(options);

  const inBuckets = [...first].filter((key) => key.startsWith(`${SCRATCH}buckets-`));
  expect(counts).toEqual({ added: 0, removed: 0, changed: 3 });
  expect(inBuckets.length).toBeGreaterThan(2);
  expect(options.store.objects.size).toBe(first.size + inBuckets.length);
});

test('runs that exceed the memory for buckets are split into buckets in several turns', async () => {
  const filesOf = (name: string) => [...'abc'].map((id) => file(id, name.repeat(1_000)));
  const runs = await unordered(filesOf('1'), filesOf('2').toReversed());

  const counts = await publishChanges({ ...runs, memoryBytes: 2_000 });

  const turns = [...runs.store.objects.keys()].map((key) => /after.*(\d)\.ndjson.zst$/.exec(key)?.[1]);
  expect(counts).toEqual({ added: 0, removed: 0, changed: 3 });
  expect([...new Set(turns.filter(Boolean))].sort()).toEqual(['0', '1', '2']);
});

test('the caller’s signal ends the comparison, and is passed to the request that stores the changes', async () => {
  const { store, ...options } = await ordered();
  const { signal } = new AbortController();
  const signals: unknown[] = [];
  const putStream: MemoryStore['putStream'] = (key, pieces, given) => {
    signals.push(given?.signal);
    return store.putStream(key, pieces, given);
  };
  const aborted = AbortSignal.abort(new Error('enough'));

  await publishChanges({ ...options, store: { ...store, putStream }, signal });
  const ended = publishChanges({ ...options, store, signal: aborted });

  await expect(ended).rejects.toThrow('enough');
  expect(signals).toEqual([signal]);
});
