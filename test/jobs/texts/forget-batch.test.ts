import { expect, test } from 'vitest';
import { splitBatch } from '../../../lib/jobs/texts/batch/score-file.ts';
import { forget, forgetBatch } from '../../../lib/jobs/texts/forget.ts';
import { scoreTexts } from '../../../lib/jobs/texts/scoring/score-texts.ts';
import type { Store } from '../../../lib/store/store.ts';
import { batchOf, before, keysOf, mixedRows, runBatch, summaryOf, world } from './batch/batch-suite.ts';
import { row } from './fakes.ts';

const ROWS = [row(1, 'good'), row(2, 'bad')];

test('erasing a batch that was only split also erases the cached results of its texts', async () => {
  const one = world();
  await splitBatch(batchOf([...ROWS, { line: 3, fault: 'no text' }]), one.split);
  await scoreTexts([{ id: '1', text: 'good' }], {}, one.scoring);
  await scoreTexts([{ id: '1', text: 'another' }], {}, one.scoring);

  expect(await forgetBatch('b1', one.storage)).toMatchObject({ cacheRows: 1, stagedChunks: 1, parts: 0 });
});

test('erasing a batch whose staged chunks have expired also erases the cached results', async () => {
  const one = world();
  await runBatch(batchOf(ROWS), one);
  for (const key of keysOf(one, 'work/')) one.store.objects.delete(key);

  expect(await forgetBatch('b1', one.storage)).toMatchObject({ cacheRows: 2, stagedChunks: 0, parts: 1 });
});

test('a batch with chunks that have not ended is not erased, not even in part', async () => {
  const one = world();
  await splitBatch(batchOf(ROWS), one.split);
  const stored = keysOf(one, '');
  const refused =
    'batch b1 was not erased: 1 of its chunks may still store scores. Wait for them, or first run platform-sync jobs cancel --batch b1';

  await expect(forget({ batch: 'b1' }, one.storage, { environment: {} })).rejects.toThrow(refused);
  await expect(forget({ batch: 'b1' }, one.storage, { environment: {}, isDryRun: true })).rejects.toThrow(
    refused,
  );

  expect(keysOf(one, '')).toEqual(stored);
});

test('a batch whose chunks have ended is erased, and so is the rest of a batch whose rows are missing', async () => {
  const one = world();
  await runBatch(batchOf(ROWS), one);

  expect(await forget({ batch: 'b1' }, one.storage, { environment: {} })).toMatchObject({
    parts: 1,
    rows: 2,
  });

  await runBatch(batchOf(ROWS), one);
  for await (const { key, token } of one.table.list('batch#b1')) await one.table.delete(key, token);
  expect(await forget({ batch: 'b1' }, one.storage, { environment: {} })).toMatchObject({
    parts: 1,
    rows: 2,
  });
});

test('a batch can be erased twice concurrently', async () => {
  const one = world();
  await runBatch(batchOf(mixedRows), one);

  await Promise.all([forgetBatch('b1', one.storage), forgetBatch('b1', one.storage)]);

  expect(one.store.objects.size).toBe(0);
  expect(await Array.fromAsync(one.table.scan(''))).toEqual([]);
});

test('the rows of a part that is deleted meanwhile are not counted as erased', async () => {
  const one = world();
  await runBatch(batchOf(ROWS), one);
  const get: Store['get'] = async (key) => {
    one.store.objects.delete(key);
    return undefined;
  };

  const erased = await forgetBatch('b1', { ...one.storage, store: { ...one.store, get } });

  expect(erased).toEqual({ cacheRows: 0, stagedChunks: 1, parts: 1, rows: 0, batches: ['b1'] });
});

test('a row that changes just before it is deleted is deleted anyway', async () => {
  const one = world();
  await splitBatch(batchOf(ROWS), one.split);
  const key = { partition: 'batch#b1', sort: 'chunk-00000' };
  const storage = before(one, ['table', 'delete', /chunk-00000/], async () => {
    const expected = (await one.table.get(key))?.token ?? null;
    await one.table.put(key, { state: 'changed' }, { expected, token: 'other' });
  });

  await forgetBatch('b1', storage);

  expect(await Array.fromAsync(one.table.scan('batch#'))).toEqual([]);
});

test('erasing a batch affects no batch whose name differs only in case', async () => {
  const one = world();
  const listed: string[] = [];
  const list: Store['list'] = (prefix, options) => {
    listed.push(prefix);
    return one.store.list(prefix, options);
  };
  const storage = { ...one.storage, store: { ...one.store, list } };
  await runBatch(batchOf(ROWS, { batch: 'b2' }), one);
  one.messages.splice(0);
  await runBatch(batchOf(ROWS, { batch: 'May' }), one);

  await forgetBatch('May', storage);
  const remaining = keysOf(one, '');
  listed.splice(0);
  await forgetBatch('none', storage);

  expect(remaining).toHaveLength(3);
  expect(summaryOf(one.store, 'b2')).toMatchObject({ scored: 2 });
  expect(listed).toEqual(['work/scores/none/', 'scores/none/']);
});
