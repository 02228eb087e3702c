import { describe, expect, test } from 'vitest';
import { reopenChunk } from '../../../../lib/jobs/texts/batch/finish-batch.ts';
import { endChunk, scoreChunk } from '../../../../lib/jobs/texts/batch/score-chunk.ts';
import { splitBatch } from '../../../../lib/jobs/texts/batch/score-file.ts';
import type { ScoreJob } from '../../../../lib/jobs/types/score/message.ts';
import { refusedText, row, scriptedAnalyze } from '../fakes.ts';
import { batchOf, before, partLines, summaryOf, type World, world } from './batch-suite.ts';

const CHUNK = { batch: 'b1', chunk: 0 };
const REFUSING = { bad: [refusedText] };

const score = (job: ScoreJob, { scoring, storage }: World) => scoreChunk(job, { ...scoring, ...storage });

/** The cache rows of texts without a result, which hold the counts of their calls. */
const countedIn = async ({ table }: World) =>
  (await Array.fromAsync(table.scan('score#')))
    .map(({ row: each }) => each)
    .filter(({ state }) => state === 'FREE');

async function splitWorld(analyze = scriptedAnalyze(REFUSING)) {
  const one = world({}, analyze);
  await splitBatch(batchOf([row(1, 'good'), row(2, 'bad')]), one.split);
  const [job] = one.messages;
  if (job === undefined) throw new Error('expected a message');
  return { one, job };
}

describe('a chunk’s job', () => {
  test('returns its results and how the chunk ended', async () => {
    const { one, job } = await splitWorld();

    const scored = await score(job, one);

    expect(scored).toMatchObject({
      kind: 'scored',
      results: [
        { id: '1', calls: 1 },
        { id: '2', error: expect.any(String) },
      ],
      chunk: { kind: 'ended', summary: { scored: 1, failed: 1 } },
    });
    expect(await countedIn(one)).toEqual([]);
  });

  test('leaves the calls of its failed texts in the cache, to be counted later, if another worker has ended the chunk meanwhile', async () => {
    const { one, job } = await splitWorld(
      scriptedAnalyze({ bad: Array(9).fill({ kind: 'status', status: 500 }) }),
    );
    const storage = before(one, ['table', 'put', /chunk-00000/], () => endChunk(CHUNK, [], one.storage));

    const scored = await score(job, { ...one, storage });

    expect(scored).toMatchObject({ kind: 'scored', chunk: { kind: 'was-ended' } });
    expect((await countedIn(one)).length).toBe(1);
  });

  test('sends only the texts without a result after the chunk was reopened, even if the cache is empty', async () => {
    const { one, job } = await splitWorld();
    await score(job, one);
    await reopenChunk(CHUNK, one.storage);
    for (const { key, token } of await Array.fromAsync(one.table.scan('score#')))
      await one.table.delete(key, token);

    const scored = await score(job, one);

    expect(scored).toMatchObject({ results: [{ id: '2' }] });
    expect(one.paid).toEqual(['good', 'bad']);
    expect(partLines(one.store)).toMatchObject([{ sentiment: 'positive' }, { sentiment: 'negative' }]);
    expect(summaryOf(one.store)).toMatchObject({ scored: 2, failed: 0 });
  });
});

test('a job without a chunk counts its calls once, and the cost of its failed texts is settled', async () => {
  const one = world({}, scriptedAnalyze({ bad: Array(9).fill({ kind: 'status', status: 500 }) }));
  const { job } = await splitWorld();
  const { batch: _batch, chunk: _chunk, ...rest } = job;

  const scored = await score(rest, one);

  expect(scored).toMatchObject({ kind: 'scored', results: [{ id: '1' }, { id: '2' }], chunk: undefined });
  expect(await countedIn(one)).toEqual([]);
});
