import { expect, test } from 'vitest';
import { cancelBatch } from '../../lib/jobs/cancel.ts';
import { createLedger } from '../../lib/jobs/ledger/ledger.ts';
import { redriveBatch, redriveFailed } from '../../lib/jobs/redrive.ts';
import { readBatchStatus } from '../../lib/jobs/texts/batch/batch-status.ts';
import { failChunk } from '../../lib/jobs/texts/batch/score-chunk.ts';
import type { RowCosts as Costs } from '../../lib/model/rules/batch-counts.ts';
import { scoredBatch } from './scored-batch.ts';
import { crashing } from './texts/fakes.ts';

const CHUNK = 'b1.chunk-00000';
const scored = (line: number) => ({ line, sentiment: 'negative', error: undefined });
const failed = (line: number) => ({ line, sentiment: undefined, error: expect.stringContaining('400') });
const bad = { line: 4, sentiment: undefined, error: 'no text' };

test('redrive scores the failed rows of a batch, and pays again for none of its other texts', async () => {
  const batch = await scoredBatch({ refused: ['two'] });
  await batch.drain();
  expect(await batch.part()).toEqual([scored(1), failed(2), scored(3), bad]);
  batch.refused.clear();

  const redriven = await redriveBatch('b1', batch.parts);
  await batch.drain();

  expect(redriven).toEqual({ batch: 'b1', chunks: 1, opened: [CHUNK], left: [], notSent: [] });
  expect(await batch.part()).toEqual([scored(1), scored(2), scored(3), bad]);
  expect(batch.paid.toSorted()).toEqual(['one', 'three', 'two']);
  expect(await batch.stored('scores/b1/_summary.json')).toMatchObject({ scored: 3, failed: 0, bad: 1 });
  expect(await batch.partKeys()).toHaveLength(1);
});

test('the result of a chunk’s job has the costs of the chunk, including those before it was reopened', async () => {
  const batch = await scoredBatch({ refused: ['two'] });
  await batch.drain();
  batch.refused.clear();
  await redriveBatch('b1', batch.parts);
  await batch.drain();

  const keys = await Array.fromAsync(batch.store.list('results/score/'), ({ key }) => key);
  const [result] = await Promise.all(keys.map(batch.stored));
  const [part] = await batch.partKeys();
  const { calls, cached, paidAgain, tokens } = (await batch.stored('scores/b1/_summary.json')) as Costs;
  expect(result).toMatchObject({
    response: { batch: 'b1', chunk: 0, part, calls, cached, paidAgain, tokens },
  });
  expect(calls).toBeGreaterThanOrEqual(3);
});

test('redrive does not change a batch without failed rows', async () => {
  const batch = await scoredBatch({ refused: [] });
  await batch.drain();
  const before = await batch.partKeys();

  expect(await redriveBatch('b1', batch.parts)).toMatchObject({ opened: [], left: [] });

  expect(batch.queue.bodies()).toEqual([]);
  expect(await batch.partKeys()).toEqual(before);
});

test('redrive names a chunk that has not ended yet, and leaves it to its own message', async () => {
  const batch = await scoredBatch({ refused: [] });

  const redriven = await redriveBatch('b1', batch.parts);

  expect(redriven).toMatchObject({
    opened: [],
    left: [{ id: CHUNK, status: null, why: 'not ended yet' }],
  });
  expect(batch.queue.bodies()).toHaveLength(1);
});

test('a row that fails again fails alone, and can be scored later', async () => {
  const batch = await scoredBatch({ refused: ['two'] });
  await batch.drain();
  await redriveBatch('b1', batch.parts);
  await batch.drain();
  expect(await batch.part()).toEqual([scored(1), failed(2), scored(3), bad]);
  batch.refused.clear();

  await redriveBatch('b1', batch.parts);
  await batch.drain();

  expect(await batch.part()).toEqual([scored(1), scored(2), scored(3), bad]);
});

test('redrive of a chunk whose job failed, by its id, scores all of its rows', async () => {
  const batch = await scoredBatch({ refused: [], ends: ['failed'] });
  await batch.drain();
  expect(await batch.part()).toMatchObject([
    { error: 'no luck' },
    { error: 'no luck' },
    { error: 'no luck' },
    bad,
  ]);

  expect((await redriveFailed([CHUNK], batch.parts)).opened).toEqual([CHUNK]);
  await batch.drain();

  expect(await batch.part()).toEqual([scored(1), scored(2), scored(3), bad]);
  expect(await batch.stored('scores/b1/_summary.json')).toMatchObject({ scored: 3, failed: 0 });
});

test('redrive skips a chunk whose job is unknown, or was cancelled, unless its id is given', async () => {
  const unknown = await scoredBatch({ refused: [], ends: ['unknown'] });
  const cancelled = await scoredBatch({ refused: [] });
  await unknown.drain();
  const jobs = (await cancelBatch('b1', cancelled.parts)).jobs.map(({ id }) => id);
  await cancelled.drain();

  expect(jobs).toEqual([CHUNK]);
  expect((await redriveFailed([CHUNK], unknown.parts)).left).toEqual([
    { id: CHUNK, status: 'unknown', why: null },
  ]);
  expect((await redriveFailed([], cancelled.parts)).left).toEqual([
    { id: CHUNK, status: 'failed', why: 'cancelled' },
  ]);
  expect(await readBatchStatus('b1', unknown.batches)).toMatchObject({ status: 'done', failed: 3 });
  expect(await readBatchStatus('b1', cancelled.batches)).toMatchObject({ status: 'done', cancelled: 3 });
  expect((await redriveFailed([CHUNK], cancelled.parts)).opened).toEqual([CHUNK]);
  await cancelled.drain();
  expect(await cancelled.part()).toEqual([scored(1), scored(2), scored(3), bad]);
});

test('a batch of which nothing was scored yet has ended once it is cancelled', async () => {
  const batch = await scoredBatch({ refused: [] });

  const { jobs, ...counts } = await cancelBatch('b1', batch.parts);

  expect(counts).toEqual({ batch: 'b1', chunks: 1, ended: 0, isSplit: true });
  expect(jobs).toMatchObject([{ id: CHUNK, answer: { kind: 'cancelled' } }]);
  expect(await batch.stored('scores/b1/_summary.json')).toMatchObject({ scored: 0, cancelled: 3, bad: 1 });
});

test('redrive of a batch scores a chunk whose job is unknown, since a repeat does no harm', async () => {
  const batch = await scoredBatch({ refused: [], ends: ['unknown'] });
  await batch.drain();

  await redriveBatch('b1', batch.parts);
  await batch.drain();

  expect(await batch.part()).toEqual([scored(1), scored(2), scored(3), bad]);
});

test('redrive scores a chunk even if its row in the ledger has expired', async () => {
  const batch = await scoredBatch({ refused: ['two'] });
  await batch.drain();
  batch.refused.clear();
  await batch.forgetJob(CHUNK);

  await redriveBatch('b1', batch.parts);
  await batch.drain();

  expect(await batch.part()).toEqual([scored(1), scored(2), scored(3), bad]);
});

test('redrive names a chunk whose texts have expired, which stays ended', async () => {
  const batch = await scoredBatch({ refused: ['two'] });
  await batch.drain();
  await batch.store.delete('work/scores/b1/chunk-00000.json');

  const redriven = await redriveBatch('b1', batch.parts);

  expect(redriven.left).toEqual([{ id: CHUNK, status: 'done', why: 'its texts have expired' }]);
  expect(await batch.stored('scores/b1/_summary.json')).toMatchObject({ scored: 2, failed: 1 });
});

test.for([
  [1, false],
  [1, true],
  [2, false],
  [2, true],
] as const)('a redrive that died at write %i (stored: %s) is completed by the next', async ([at, made]) => {
  const batch = await scoredBatch({ refused: ['two'] });
  await batch.drain();
  batch.refused.clear();
  const dying = crashing(batch.batches, at, made);
  const ledger = createLedger({ table: dying.table, now: batch.worker.now });
  const dead = redriveBatch('b1', { ...batch.parts, ledger, batches: { ...batch.batches, ...dying } });
  await expect(dead).rejects.toThrow();

  expect((await redriveBatch('b1', batch.parts)).opened).toEqual([CHUNK]);
  await batch.drain();

  expect(await batch.part()).toEqual([scored(1), scored(2), scored(3), bad]);
});

test('if a repeated delivery ended a chunk after its redrive, the next redrive reopens it, whether by its batch or by its id', async () => {
  const batch = await scoredBatch({ refused: [], ends: ['failed'] });
  await batch.drain();
  await redriveFailed([CHUNK], batch.parts);
  await failChunk({ batch: 'b1', chunk: 0 }, { error: 'no luck', jobId: CHUNK }, batch.batches);

  await redriveFailed([CHUNK], batch.parts);
  await batch.drain();

  expect(await batch.part()).toEqual([scored(1), scored(2), scored(3), bad]);
});

test('a repeated delivery of a chunk that failed ends it again after it was reopened, and loses no score', async () => {
  const batch = await scoredBatch({ refused: ['two'] });
  await batch.drain();
  batch.refused.clear();
  await redriveBatch('b1', batch.parts);
  await failChunk({ batch: 'b1', chunk: 0 }, { error: 'no luck', jobId: CHUNK }, batch.batches);

  await batch.drain();
  await redriveBatch('b1', batch.parts);
  await batch.drain();

  expect(await batch.part()).toEqual([scored(1), scored(2), scored(3), bad]);
});
