import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type ChangesToPublish, publishChanges } from '../../../lib/snapshot/publish/publish-changes.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { storeRun } from '../changes/stored-run.ts';

const KEY = 'work/changes.ndjson.gz';
const PIECES = 'work/pieces/';

const calculation = (id: number, name: string) => `{"id":${id},"name":"${name}"}`;
const file = (id: string, name: string) => `{"_filesetId":"s","id":"${id}","name":"${name}"}`;

/** Two runs of calculations in key order, a part a record: 1 changed, 2 did not, 3 was removed, and 4 was added. */
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

/** Two runs of files, which have no order, a part a record. */
async function unordered(old: readonly string[], now: readonly string[]) {
  const store = createMemoryStore();
  return optionsOf(store, 'files', {
    before: await storeRun(store, 'old', old, { partRecords: 1 }),
    after: await storeRun(store, 'new', now, { partRecords: 1 }),
  });
}

function optionsOf(
  store: MemoryStore,
  source: 'calculations' | 'files',
  runs: Pick<ChangesToPublish, 'before' | 'after'>,
) {
  return { store, source, ...runs, key: KEY, pieces: PIECES, isOver: () => false } as const;
}

/** What is stored under the key of the changes, a line each. */
function linesIn({ objects }: MemoryStore): readonly string[] | undefined {
  const body = objects.get(KEY);
  return body === undefined ? undefined : gunzipSync(body).toString().split('\n').slice(0, -1);
}

/** The pieces that the comparison has recorded. */
const piecesIn = ({ objects }: MemoryStore) =>
  [...objects.keys()]
    .filter((key) => key.startsWith(PIECES) && key.endsWith('.json'))
    .map((key) => key.slice(PIECES.length, -'.json'.length))
    .sort();

/** Compares in slices that end after each piece, and counts them. */
async function inSlices(options: ChangesToPublish) {
  for (let slices = 1; ; slices += 1) {
    const counts = await publishChanges({ ...options, isOver: () => true });
    if (counts !== undefined) return { counts, slices };
  }
}

describe('runs in key order', () => {
  test('are merged range by range', async () => {
    const options = await ordered();

    const counts = await publishChanges({ ...options, pieceBytes: 1 });

    expect(counts).toEqual({ added: 1, removed: 1, changed: 1 });
    expect(piecesIn(options.store)).toEqual(['merged-00000', 'merged-00001', 'merged-00002']);
    expect(linesIn(options.store)).toEqual([
      expect.stringContaining('"changed"'),
      expect.stringContaining('"removed"'),
      expect.stringContaining('"added"'),
    ]);
  });

  test('are merged at once if they are small', async () => {
    const options = await ordered();

    const counts = await publishChanges(options);

    expect(counts).toEqual({ added: 1, removed: 1, changed: 1 });
    expect(piecesIn(options.store)).toEqual(['merged-00000']);
    expect(linesIn(options.store)).toHaveLength(3);
  });

  test('are merged at once if their parts do not say which keys they have', async () => {
    const options = await ordered();
    const withoutKeys = ({ parts }: ChangesToPublish['before']) => ({
      parts: parts.map((part) => ({ ...part, firstKey: '', lastKey: '' })),
    });
    const runs = { before: withoutKeys(options.before), after: withoutKeys(options.after) };

    const counts = await publishChanges({ ...options, ...runs, pieceBytes: 1 });

    expect(counts).toEqual({ added: 1, removed: 1, changed: 1 });
    expect(piecesIn(options.store)).toEqual(['merged-00000']);
  });

  test('have empty changes if nothing changed', async () => {
    const { before, ...options } = await ordered();

    const counts = await publishChanges({ ...options, before, after: before });

    expect(counts).toEqual({ added: 0, removed: 0, changed: 0 });
    expect(linesIn(options.store)).toEqual([]);
  });

  test('are compared in another way if a part is not in order, and what was merged does not count', async () => {
    const { before, after, store, ...options } = await ordered();
    const { parts } = await storeRun(store, 'wrong', [calculation(5, 'new'), calculation(4, 'new')]);
    const wrong = parts.map((part) => ({ ...part, firstKey: '4', lastKey: '5' }));

    const counts = await publishChanges({
      ...options,
      store,
      before,
      after: { parts: [...after.parts.slice(0, 2), ...wrong] },
      pieceBytes: 1,
    });

    expect(counts).toEqual({ added: 2, removed: 1, changed: 1 });
    expect(piecesIn(store)).toEqual(['aligned', 'merged-00000', 'merged-00001', 'merged-00002']);
    expect(linesIn(store)).toHaveLength(4);
  });

  test('whose part is gone are not compared', async () => {
    const options = await ordered();
    await options.store.delete(options.after.parts[0]?.key ?? '');

    await expect(publishChanges(options)).rejects.toThrow('a part');
  });
});

describe('runs in no order', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((id) => file(id, '1')) as [string, string, string];

  test('are read side by side', async () => {
    const options = await unordered([a, b], [b, c]);

    const counts = await publishChanges(options);

    expect(counts).toEqual({ added: 1, removed: 1, changed: 0 });
    expect(piecesIn(options.store)).toEqual(['aligned']);
  });

  test('are compared by their hashes if that fails, at once if they are small', async () => {
    const options = await unordered([a, b, file('a', '2')], [a, b, c]);

    const counts = await publishChanges(options);

    expect(counts).toEqual({ added: 1, removed: 0, changed: 1 });
    expect(piecesIn(options.store)).toEqual(['aligned', 'hashed-00000']);
  });

  test('are put into buckets, a few parts a piece, if they are large', async () => {
    const options = await unordered([a, b, c], [c, b, file('a', '2')]);
    const [{ bytes = 0 } = {}] = options.before.parts;

    const counts = await publishChanges({ ...options, memoryBytes: 800, pieceBytes: 2 * bytes });

    const put = ['put-after-00000', 'put-after-00001', 'put-before-00000', 'put-before-00001'];
    const hashed = piecesIn(options.store).filter((name) => name.startsWith('hashed-'));
    expect(counts).toEqual({ added: 0, removed: 0, changed: 1 });
    expect(piecesIn(options.store)).toEqual(['aligned', ...hashed, ...put]);
    expect(hashed.length).toBeGreaterThan(1);
    expect(hashed[0]).toBe('hashed-00000');
    expect(
      [...options.store.objects.keys()].filter((key) => key.startsWith(`${PIECES}buckets/`)),
    ).not.toEqual([]);
  });
});

describe.each([
  ['merged', async () => ({ ...(await ordered()), pieceBytes: 1 })],
  [
    'in buckets',
    async () => ({
      ...(await unordered(
        ['a', 'b', 'c'].map((id) => file(id, '1')),
        ['c', 'b', 'd'].map((id) => file(id, '2')),
      )),
      memoryBytes: 800,
      pieceBytes: 1,
    }),
  ],
] as const)('a comparison %s', (_, open) => {
  test('does one piece a slice, repeats none, and gives the same bytes', async () => {
    const whole = await open();
    const sliced = await open();

    const counts = await publishChanges(whole);
    const found = await inSlices(sliced);

    expect(found.counts).toEqual(counts);
    expect(found.slices).toBe(piecesIn(whole.store).length + 1);
    expect(sliced.store.objects.get(KEY)).toEqual(whole.store.objects.get(KEY));
  });
});

describe('the caller’s signal', () => {
  test('ends the comparison', async () => {
    const signal = AbortSignal.abort(new Error('enough'));

    await expect(publishChanges({ ...(await ordered()), signal })).rejects.toThrow('enough');
  });

  test.each([
    ['no piece has changes', async () => ({ ...(await ordered()), after: (await ordered()).before })],
    ['one piece has', ordered],
    ['several pieces have', async () => ({ ...(await ordered()), pieceBytes: 1 })],
  ])('ends the putting together if %s', async (_, open) => {
    const options = await open();
    await publishChanges(options);
    const signal = AbortSignal.abort(new Error('enough'));

    await expect(publishChanges({ ...options, signal })).rejects.toThrow('enough');
  });

  test('goes with each request that moves changes', async () => {
    const { store, ...options } = await ordered();
    const { signal } = new AbortController();
    const signals: unknown[] = [];
    const watched: MemoryStore = {
      ...store,
      putStream(key, pieces, given) {
        signals.push(given?.signal);
        return store.putStream(key, pieces, given);
      },
    };

    await publishChanges({ ...options, store: watched, pieceBytes: 1, signal });

    expect(signals).toEqual([signal, signal, signal, signal]);
  });

  test('goes with each request that reads a piece to be put together', async () => {
    const { store, ...options } = await ordered();
    const { signal } = new AbortController();
    const signals: unknown[] = [];
    const watched: MemoryStore = {
      ...store,
      stream(key, given) {
        if (key.startsWith(PIECES)) signals.push(given?.signal);
        return store.stream(key, given);
      },
    };

    await publishChanges({ ...options, store: watched, pieceBytes: 1, signal });

    expect(signals).toEqual([signal, signal, signal]);
  });
});

test('changes whose piece is gone are not published', async () => {
  const options = { ...(await ordered()), pieceBytes: 1 };
  await publishChanges(options);
  await options.store.delete(KEY);
  await options.store.delete(`${PIECES}merged-00001.ndjson.gz`);

  await expect(publishChanges(options)).rejects.toThrow('a piece of the changes');
  expect(linesIn(options.store)).toBeUndefined();
});

test('a piece whose store fails is not recorded', async () => {
  const { store, ...options } = await ordered();
  const full: MemoryStore = {
    ...store,
    putStream: async () => {
      throw new Error('no room');
    },
  };

  await expect(publishChanges({ ...options, store: full })).rejects.toThrow('no room');
  expect(piecesIn(store)).toEqual([]);
});
