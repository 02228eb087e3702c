import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { printPart } from '../../../lib/jobs/texts/batch/chunk-objects.ts';
import { reopenChunk } from '../../../lib/jobs/texts/batch/finish-batch.ts';
import { scoreChunk } from '../../../lib/jobs/texts/batch/score-chunk.ts';
import { splitBatch } from '../../../lib/jobs/texts/batch/score-file.ts';
import { textHashOf } from '../../../lib/jobs/texts/cache/score-cache.ts';
import { forget, forgetBatch } from '../../../lib/jobs/texts/forget.ts';
import type { Store } from '../../../lib/store/store.ts';
import { scaled } from '../../scale.ts';
import {
  batchOf,
  before,
  keysOf,
  partLines,
  runBatch,
  summaryOf,
  type World,
  world,
} from './batch/batch-suite.ts';
import { refusedText, row, scriptedAnalyze } from './fakes.ts';

const HASH = textHashOf('good');
const CHUNK = { batch: 'b1', chunk: 0 };
const ROWS = [row(1, 'good'), row(2, 'bad'), row(3, 'fair')];
const STAGED = 'work/scores/b1/chunk-00000.json';

/** A store that records the keys which are deleted from it. */
const withDeleted = (deleted: string[], store: Store): Store => ({
  ...store,
  delete: async (key, options) => {
    deleted.push(key);
    return store.delete(key, options);
  },
});

test.each(['before its job', 'after its job'])(
  'two texts of a chunk that are erased concurrently %s are both erased, whatever the interleaving',
  async (when) => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const one = world();
        await (when === 'before its job'
          ? splitBatch(batchOf(ROWS), one.split)
          : runBatch(batchOf(ROWS), one));
        // The scheduler delays both a request and its response.
        const late =
          <Given extends readonly unknown[], T>(name: string, call: (...given: Given) => Promise<T>) =>
          async (...given: Given): Promise<T> => {
            await scheduler.schedule(Promise.resolve(), `${name} is requested`);
            return scheduler.schedule(call(...given), `${name} was done`);
          };
        const { store, table } = one.storage;
        const storage = {
          ...one.storage,
          store: {
            ...store,
            get: late('get', store.get),
            put: late('put', store.put),
            delete: late('delete', store.delete),
          },
          table: { ...table, get: late('get row', table.get), put: late('put row', table.put) },
        };

        await scheduler.waitFor(
          Promise.all([
            forget({ textHash: HASH }, storage, { environment: {} }),
            forget({ textHash: textHashOf('fair') }, storage, { environment: {} }),
          ]),
        );
        if (when === 'before its job')
          for (const message of one.messages) await scoreChunk(message, { ...one.scoring, ...one.storage });

        expect(partLines(one.store).map(({ erased }) => erased)).toEqual([true, undefined, true]);
        expect(summaryOf(one.store)).toMatchObject({ scored: 1, erased: 2 });
        expect(one.store.objects.get(STAGED)?.toString()).not.toMatch(/good|fair/);
      }),
      { numRuns: scaled(50, 300) },
    );
  },
);

test('a text that is erased again after a crash is not in the part of a job that runs meanwhile', async () => {
  const one = world();
  await splitBatch(batchOf(ROWS), one.split);
  const [message] = one.messages;
  if (message === undefined) throw new Error('expected a message');
  // The job has read its chunk, with the text, when the first try erases the text and crashes.
  const crashed = before(one, ['table', 'put', /chunk-00000/], async () => {
    throw new Error('crashed');
  });
  const late = before(one, ['table', 'put', /chunk-00000/], async () => {
    await expect(forget({ textHash: HASH }, crashed, { environment: {} })).rejects.toThrow('crashed');
    await forget({ textHash: HASH }, one.storage, { environment: {} });
  });

  await scoreChunk(message, { ...one.scoring, ...late });

  expect(partLines(one.store)[0]).toMatchObject({ id: 'user-1', line: 1, erased: true });
});

test('a chunk that was staged, but has no row yet, is erased too', async () => {
  const one = world();
  await splitBatch(batchOf(ROWS), one.split);
  await forgetBatch('b1', { ...one.storage, store: world().store });

  expect(await forget({ textHash: HASH }, one.storage, { environment: {} })).toMatchObject({
    stagedChunks: 1,
    batches: ['b1'],
  });
  expect(one.store.objects.get(STAGED)?.toString()).not.toContain('good');
});

test('a chunk, its row and its part may be deleted while a text is erased', async () => {
  const gone = { cacheRows: 0, stagedChunks: 0, parts: 0, rows: 0, batches: [] };
  for (const call of [
    ['store', 'get', /chunk-00000/],
    ['store', 'get', /part-00000/],
  ] as const) {
    const one = world();
    await runBatch(batchOf(ROWS), one);

    const erased = await forget(
      { textHash: HASH },
      before(one, call, () => forgetBatch('b1', one.storage)),
      { environment: {} },
    );

    expect(erased).toMatchObject(
      call[2].test('chunk-00000') ? gone : { ...gone, stagedChunks: 1, batches: ['b1'] },
    );
    expect(one.store.objects.size).toBe(0);
  }
});

test('the row of a part may be deleted while the part is replaced', async () => {
  const one = world();
  await runBatch(batchOf(ROWS), one);
  const key = { partition: 'batch#b1', sort: 'chunk-00000' };
  const storage = before(one, ['table', 'put', /chunk-00000/], async () => {
    const stored = await one.table.get(key);
    await one.table.delete(key, stored?.token ?? '');
  });

  await forget({ textHash: HASH }, storage, { environment: {} });

  expect(partLines(one.store).map(({ erased }) => erased)).toEqual([true, undefined, undefined]);
});

test('a chunk that is reopened while its part is replaced still gets the new part', async () => {
  const one = world({}, scriptedAnalyze({ bad: [refusedText] }));
  await runBatch(batchOf(ROWS), one);
  const deleted: string[] = [];
  const storage = before(one, ['table', 'put', /chunk-00000/], () => reopenChunk(CHUNK, one.storage));
  const [old] = keysOf(one, 'scores/b1/part-');

  await forget(
    { textHash: HASH },
    { ...storage, store: withDeleted(deleted, storage.store) },
    { environment: {} },
  );
  for (const message of one.messages) await scoreChunk(message, { ...one.scoring, ...one.storage });

  // The new part is deleted too, since nothing will name it.
  expect(deleted).toEqual([expect.not.stringContaining(old ?? ''), old]);
  expect(summaryOf(one.store)).toMatchObject({ scored: 2, failed: 0, erased: 1 });
  expect(one.paid).toEqual(['good', 'fair', 'bad']);
});

test('a part that an attempt left behind is deleted, and no row names it', async () => {
  const one = world();
  await runBatch(batchOf(ROWS), one);
  const left = printPart(CHUNK, [{ id: 'user-1', line: 1, textHash: HASH, sentiment: 'POSITIVE' }]);
  await one.store.put(left.key, left.body);

  const erased = await forget({ textHash: HASH }, one.storage, { environment: {} });

  expect(erased).toMatchObject({ parts: 2, rows: 2 });
  expect(one.store.objects.has(left.key)).toBe(false);
  expect(partLines(one.store).map(({ line }) => line)).toEqual([1, 2, 3]);
  expect(keysOf(one, 'scores/b1/part-')).toEqual([summaryOf(one.store).parts[0].key]);
});

test('parts whose staged chunks and rows have expired are erased too', async () => {
  const one = world();
  await runBatch(batchOf(ROWS), one);
  one.store.objects.delete(STAGED);

  expect(
    await forget({ textHash: HASH }, { ...one.storage, table: world().table }, { environment: {} }),
  ).toEqual({
    cacheRows: 0,
    oldVersions: 0,
    stagedChunks: 0,
    parts: 1,
    rows: 1,
    batches: ['b1'],
  });
  expect(partLines(one.store).map(({ erased }) => erased)).toEqual([true, undefined, undefined]);
});

test('forget does not touch objects that are not chunks', async () => {
  const one = world();
  await splitBatch(batchOf(ROWS), one.split);
  await one.store.put('work/scores/b1/good.txt', Buffer.from('good'));
  await one.store.put('scores/b1/good.txt', Buffer.from('good'));

  await forget({ textHash: HASH }, one.storage, { environment: {} });

  expect(one.store.objects.get('work/scores/b1/good.txt')?.toString()).toBe('good');
  expect(one.store.objects.get('scores/b1/good.txt')?.toString()).toBe('good');
});

test('a text that is erased twice concurrently leaves the part that the row names', async () => {
  const one = world();
  await runBatch(batchOf(ROWS), one);
  const late = before(one, ['table', 'put', /chunk-00000/], () =>
    forget({ textHash: HASH }, one.storage, { environment: {} }),
  );

  await forget({ textHash: HASH }, late, { environment: {} });

  expect(keysOf(one, 'scores/b1/part-')).toEqual([summaryOf(one.store).parts[0].key]);
});

test('chunks without the text are not written, and their batches are not named', async () => {
  const one = world();
  await runBatch(batchOf(ROWS), one);
  one.messages.splice(0);
  await runBatch(batchOf([row(1, 'other')], { batch: 'b2' }), one);
  await splitBatch(batchOf([row(1, 'other')], { batch: 'b3' }), one.split);
  one.messages.splice(0);
  await runBatch(batchOf([row(1, 'good')], { batch: 'b4' }), one);
  const written: unknown[] = [];
  const table: World['table'] = {
    ...one.table,
    put: async (key, ...given) => {
      written.push(key.partition);
      return one.table.put(key, ...given);
    },
  };

  expect(await forget({ textHash: HASH }, { ...one.storage, table }, { environment: {} })).toMatchObject({
    parts: 2,
    batches: ['b1', 'b4'],
  });
  expect(written).toEqual(['batch#b1', 'batch#b4']);
});
