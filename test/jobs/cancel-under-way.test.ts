import { expect, test } from 'vitest';
import { cancelBatch } from '../../lib/jobs/cancel.ts';
import { handleMessage } from '../../lib/jobs/handle-message.ts';
import { parseMessage } from '../../lib/jobs/message/message.ts';
import { redriveBatch } from '../../lib/jobs/redrive.ts';
import { sendsMany } from '../../lib/jobs/types/job-types.ts';
import { invocationLease, messageOf } from './fake-worker.ts';
import { scoredBatch } from './scored-batch.ts';

const CHUNK = 'b1.chunk-00000';
const RESULT = `results/score/dt=2026-11-21/${CHUNK}.json`;
const cancelled = { kind: 'cancelled', message: 'the job was cancelled while it was running' };
const stops = sendsMany;

/** A batch that sends one text a second. `act` is called before the text with the number `at` is sent. */
async function slowBatch(at: number, act: (batch: SlowBatch) => Promise<unknown>, count = 60) {
  const batch: SlowBatch = await scoredBatch({
    refused: [],
    texts: Array.from({ length: count }, (_, index) => `text ${index}`),
    async beforeText(sent) {
      if (sent === at) await act(batch);
      batch.clock.nowMs += 1_000;
    },
  });
  return batch;
}

type SlowBatch = Awaited<ReturnType<typeof scoredBatch>>;

test('a score job that is cancelled while it runs sends no more texts within three seconds', async () => {
  const batch = await slowBatch(6, ({ ledger }) => ledger.cancel(CHUNK, { stops }));

  await batch.drain();

  expect(batch.paid.length).toBeLessThanOrEqual(9);
  const result = { status: 'failed', error: cancelled, response: { calls: batch.paid.length } };
  expect(await batch.stored(RESULT)).toMatchObject(result);
  const summary = { scored: batch.paid.length, calls: batch.paid.length, cancelled: 60 - batch.paid.length };
  expect(await batch.stored('scores/b1/_summary.json')).toMatchObject(summary);
});

test('texts that were paid for are not paid for again when the batch is redriven', async () => {
  const batch = await slowBatch(6, ({ ledger }) => ledger.cancel(CHUNK, { stops }), 20);
  await batch.drain();

  await redriveBatch('b1', batch.parts);
  await batch.drain();

  expect(batch.paid.toSorted()).toEqual([...new Set(batch.paid)].toSorted());
  expect(await batch.stored('scores/b1/_summary.json')).toMatchObject({ scored: 20, failed: 0 });
});

test('a cancelled job whose worker died is ended by the next worker, which sends nothing', async () => {
  const batch = await scoredBatch({ refused: [] });
  const [body = ''] = batch.queue.bodies();
  const parsed = parseMessage(body, { messageId: 'm', allow: {} });
  if (parsed.kind !== 'job') throw new Error('expected a job');
  const { contentHash } = parsed;
  await batch.ledger.claim({ id: CHUNK, type: 'score', contentHash, sender: 's' }, { leaseMs: 1_000 });
  await batch.ledger.sent({ id: CHUNK, fence: 1 });
  expect((await batch.ledger.cancel(CHUNK, { stops })).kind).toBe('stopping');
  batch.clock.nowMs += 2_000;

  await handleMessage(messageOf(body), batch.worker, invocationLease(batch));

  expect(batch.paid).toEqual([]);
  expect(await batch.stored(RESULT)).toMatchObject({ status: 'failed', error: cancelled });
});

test('a batch that is cancelled while it runs ends when its worker stops', async () => {
  const batch = await slowBatch(6, ({ parts }) => cancelBatch('b1', parts), 20);

  await batch.drain();

  expect(batch.paid.length).toBeLessThanOrEqual(9);
  const { cancelled: count = 0, scored } = await summaryOf(batch);
  expect(count).toBe(20 - batch.paid.length);
  expect(scored).toBe(batch.paid.length);
  expect(await cancelBatch('b1', batch.parts)).toMatchObject({ ended: 1, jobs: [] });
});

const summaryOf = async (batch: SlowBatch) =>
  (await batch.stored('scores/b1/_summary.json')) as { readonly cancelled?: number; readonly scored: number };

test('a job that cannot check whether it was cancelled, since the table is unavailable, continues', async () => {
  const batch = await slowBatch(0, async () => undefined, 8);
  const read = () => Promise.reject(new Error('the table is away'));
  const worker = { ...batch.worker, ledger: { ...batch.ledger, read } };
  const [body = ''] = batch.queue.bodies();

  await handleMessage(messageOf(body), worker, invocationLease(batch));

  expect(batch.paid).toHaveLength(8);
});
