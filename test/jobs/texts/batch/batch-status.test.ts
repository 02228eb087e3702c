import { expect, test } from 'vitest';
import { batchNames, failedRows, readBatchStatus } from '../../../../lib/jobs/texts/batch/batch-status.ts';
import { reopenChunk } from '../../../../lib/jobs/texts/batch/finish-batch.ts';
import { scoreChunk } from '../../../../lib/jobs/texts/batch/score-chunk.ts';
import { splitBatch } from '../../../../lib/jobs/texts/batch/score-file.ts';
import { createMemoryTable } from '../../../table/memory-table.ts';
import { refusedText, row, scriptedAnalyze } from '../fakes.ts';
import { batchOf, runBatch, world } from './batch-suite.ts';

const ROWS = [
  ...Array.from({ length: 120 }, (_, at) => row(at + 1, `good ${at}`)),
  row(121, 'odd'),
  { line: 122, fault: 'no text', id: 'x' },
];

const withOdd = () => world({}, scriptedAnalyze({ odd: [refusedText] }));

test('the status of a batch that is done has its counts, and the rows that failed', async () => {
  const one = withOdd();
  await runBatch(batchOf(ROWS), one);

  expect(await readBatchStatus('b1', one.storage)).toEqual({
    batch: 'b1',
    status: 'done',
    chunks: 2,
    chunksEnded: 2,
    rows: 122,
    rowsLeft: 0,
    scored: 120,
    failed: 1,
    cancelled: 0,
    bad: 1,
    erased: 0,
  });
  expect(await failedRows('b1', one.storage, 20)).toEqual([
    { line: 121, id: 'user-121', error: expect.stringContaining('400') },
  ]);
  expect(await failedRows('b1', one.storage, 0)).toEqual([]);
});

test('a batch is open while a chunk has not ended, even if the chunk is scored again', async () => {
  const one = withOdd();
  await splitBatch(batchOf(ROWS), one.split);
  const [first, second] = one.messages;
  if (first === undefined || second === undefined) throw new Error('expected two chunks');

  const split = await readBatchStatus('b1', one.storage);
  await scoreChunk(second, { ...one.scoring, ...one.storage });
  const half = await readBatchStatus('b1', one.storage);
  await scoreChunk(first, { ...one.scoring, ...one.storage });
  await reopenChunk({ batch: 'b1', chunk: 1 }, one.storage);
  const reopened = await readBatchStatus('b1', one.storage);

  expect(split).toMatchObject({ status: 'open', chunks: 2, chunksEnded: 0, rowsLeft: 122, scored: 0 });
  expect(half).toMatchObject({
    status: 'open',
    chunksEnded: 1,
    rowsLeft: 100,
    scored: 20,
    failed: 1,
    bad: 1,
  });
  expect(reopened).toMatchObject({ status: 'open', chunksEnded: 1, rowsLeft: 22 });
});

test('a batch that was stopped while it was split is unfinished: how much is left is unknown', async () => {
  const one = withOdd();
  const send = () => Promise.reject(new Error('stopped'));
  await splitBatch(batchOf(ROWS), { ...one.split, send }).catch(() => undefined);

  expect(await readBatchStatus('b1', one.storage)).toMatchObject({
    status: 'unfinished',
    chunks: null,
    rowsLeft: null,
  });
  // A process without a shared table loses the rows of open chunks when it ends.
  expect(await readBatchStatus('b1', { ...one.storage, table: createMemoryTable() })).toMatchObject({
    status: 'unfinished',
    chunksEnded: 0,
  });
});

test('once the rows of a batch have expired, its summary has its counts; a broken summary is named', async () => {
  const one = withOdd();
  await runBatch(batchOf(ROWS), one);
  const later = { ...one.storage, table: createMemoryTable() };

  expect(await readBatchStatus('b1', later)).toMatchObject({
    status: 'done',
    rows: 122,
    scored: 120,
    failed: 1,
  });
  one.store.objects.set('scores/b1/_summary.json', Buffer.from('{}'));
  await expect(readBatchStatus('b1', later)).rejects.toThrow('scores/b1/_summary.json');
  expect(await readBatchStatus('b2', later)).toBeUndefined();
});

test('the names of batches are read from their folders in the store', async () => {
  const { store } = world();
  for (const key of ['scores/b2/x', 'work/scores/!b1/chunk-00000.json', 'scores/!b1/x', 'results/x/y'])
    await store.put(key, Buffer.from(''));

  expect(await batchNames(store)).toEqual(['B1', 'b2']);
});
