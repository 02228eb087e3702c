import { describe, expect, test } from 'vitest';
import { printPart } from '../../../../lib/jobs/texts/batch/chunk-objects.ts';
import {
  type ChunkRow,
  readChunkRow,
  reopenChunk,
  writeChunkRow,
} from '../../../../lib/jobs/texts/batch/finish-batch.ts';
import { endChunk, failChunk } from '../../../../lib/jobs/texts/batch/score-chunk.ts';
import { splitBatch } from '../../../../lib/jobs/texts/batch/score-file.ts';
import { cacheKey, textHashOf } from '../../../../lib/jobs/texts/cache/score-cache.ts';
import { forgetBatch } from '../../../../lib/jobs/texts/forget.ts';
import type { TextResult } from '../../../../lib/jobs/texts/scoring/score-texts.ts';
import { HOST, row, sentimentOf } from '../fakes.ts';
import { batchOf, before, partLines, summaryOf, world } from './batch-suite.ts';

const CHUNK = { batch: 'b1', chunk: 0 };
const PARTS = 'scores/b1/part-00000-';

const scored = (id: string, text: string): TextResult => ({
  id,
  result: sentimentOf({ text }),
  cached: false,
  calls: 1,
  paidAgain: 0,
});
const failed = (id: string): TextResult => ({
  id,
  error: 'no result',
  cached: false,
  calls: 1,
  paidAgain: 0,
});
const results = [scored('1', 'good'), scored('2', 'bad')];

/** A world with a split batch of one chunk with two texts. */
async function splitWorld() {
  const one = world();
  await splitBatch(batchOf([row(1, 'good'), row(2, 'bad')]), one.split);
  return one;
}

type World = Awaited<ReturnType<typeof splitWorld>>;

const partsIn = ({ store }: World) => [...store.objects.keys()].filter((key) => key.startsWith(PARTS));

/** The world's storage; `act` is called just before the chunk's row is written for the first time. */
const meanwhile = (one: World, act: () => Promise<unknown>) =>
  before(one, ['table', 'put', /chunk-00000/], act);

async function rowOf({ storage }: World): Promise<{ readonly row: ChunkRow; readonly token: string }> {
  const stored = await readChunkRow(CHUNK, storage);
  if (stored === undefined) throw new Error('expected a row');
  return stored;
}

describe('a chunk', () => {
  test('ends with its part, and the batch with its last chunk', async () => {
    const one = await splitWorld();

    const ended = await endChunk(CHUNK, results, one.storage);

    expect(ended).toMatchObject({ kind: 'ended', part: partsIn(one)[0], summary: { scored: 2 } });
    expect(partsIn(one)).toHaveLength(1);
    expect(await endChunk(CHUNK, [], one.storage)).toMatchObject({ ...ended, kind: 'was-ended' });
  });

  test('leaves nothing if it was erased', async () => {
    const one = world();

    expect(await endChunk(CHUNK, results, one.storage)).toEqual({ kind: 'gone' });
    expect(await failChunk(CHUNK, { error: 'no', jobId: 'job' }, one.storage)).toEqual({ kind: 'gone' });
    expect(one.store.objects.size).toBe(0);
  });

  test('deletes the parts that earlier attempts to end it left behind', async () => {
    const one = await splitWorld();
    await one.store.put(`${PARTS}0123456789ab.ndjson.gz`, Buffer.from('left behind'));

    const ended = await endChunk(CHUNK, results, one.storage);

    expect(partsIn(one)).toEqual([ended.kind === 'gone' ? '' : ended.part]);
  });

  test('leaves no earlier part once it was reopened, though the first try to delete that part fails', async () => {
    const one = await splitWorld();
    await endChunk(CHUNK, [scored('1', 'good'), failed('2')], one.storage);
    await reopenChunk(CHUNK, one.storage);
    const busy = before(one, ['store', 'delete', /part-/], () => Promise.reject(new Error('busy')));

    await expect(endChunk(CHUNK, results, busy)).rejects.toThrow('busy');
    const ended = await endChunk(CHUNK, results, one.storage);

    expect(ended).toMatchObject({ kind: 'was-ended', part: partsIn(one)[0], summary: { scored: 2 } });
    expect(partsIn(one)).toHaveLength(1);
  });

  test('keeps a part that an erasure of a text has just written, and will name in the chunk’s row', async () => {
    const one = await splitWorld();
    await endChunk(CHUNK, results, one.storage);
    const next = printPart(CHUNK, [], (await rowOf(one)).token);
    await one.store.put(next.key, next.body);

    await endChunk(CHUNK, results, one.storage);

    expect(partsIn(one)).toContain(next.key);
  });

  test('keeps a part of an earlier attempt with the same bytes', async () => {
    const other = await splitWorld();
    await endChunk(CHUNK, results, other.storage);
    const one = await splitWorld();
    const [key = ''] = partsIn(other);
    await one.store.put(key, other.store.objects.get(key) ?? Buffer.alloc(0));

    await endChunk(CHUNK, results, one.storage);

    expect(partsIn(one)).toEqual([key]);
  });
});

describe('while a chunk is being ended', () => {
  test('a text is erased, so the chunk is ended without it', async () => {
    const one = await splitWorld();
    const forgetting = meanwhile(one, async () => {
      const { row: open, token } = await rowOf(one);
      await writeChunkRow(CHUNK, open, token, one.storage);
    });

    const ended = await endChunk(CHUNK, results, forgetting);

    expect(ended.kind).toBe('ended');
    expect(partsIn(one)).toHaveLength(1);
  });

  test('another worker ends it with other results, so that worker’s part stays, and this worker’s part is deleted', async () => {
    const one = await splitWorld();
    const theirs = [scored('1', 'good'), failed('2')];

    const ended = await endChunk(
      CHUNK,
      results,
      meanwhile(one, () => endChunk(CHUNK, theirs, one.storage)),
    );

    expect(ended).toMatchObject({ kind: 'was-ended', part: partsIn(one)[0] });
    expect(partLines(one.store)).toMatchObject([{ sentiment: 'positive' }, { error: 'no result' }]);
    expect(summaryOf(one.store)).toMatchObject({ scored: 1, failed: 1 });
  });

  test('the batch is erased, so nothing remains', async () => {
    const one = await splitWorld();
    const { token } = await rowOf(one);

    const ended = await endChunk(
      CHUNK,
      results,
      meanwhile(one, () => one.table.delete({ partition: 'batch#b1', sort: 'chunk-00000' }, token)),
    );

    expect(ended).toEqual({ kind: 'gone' });
    expect(partsIn(one)).toEqual([]);
  });
});

describe('a chunk whose job failed', () => {
  const failure = { error: 'the job failed', jobId: 'job-1' };
  const free = { state: 'FREE', textHash: textHashOf('bad'), owner: 'w', payer: 'job-1', leaseEndsMs: 0 };
  const BAD = cacheKey(HOST, { text: 'bad' });

  test('has the results that the cache has, and counts the calls of its job', async () => {
    const one = await splitWorld();
    const counted = { sends: 2, paidAgain: 0 };
    const good = { ...free, state: 'SCORED', textHash: textHashOf('good'), payer: 'other', ...counted };
    const result = JSON.stringify(sentimentOf({ text: 'good' }));
    await one.table.put(
      cacheKey(HOST, { text: 'good' }),
      { ...good, result },
      { expected: null, token: 'a' },
    );
    await one.table.put(BAD, { ...free, ...counted }, { expected: null, token: 'b' });

    const ended = await failChunk(CHUNK, failure, one.storage);

    expect(ended).toMatchObject({ kind: 'ended', summary: { scored: 1, failed: 1, cached: 1, calls: 2 } });
    expect(partLines(one.store)).toMatchObject([{ sentiment: 'positive' }, { error: 'the job failed' }]);
    expect(await one.table.get(BAD)).toBeUndefined();
  });

  test.each([
    ['that another job counts', { payer: 'other', sends: 2 }],
    ['that a worker still holds', { state: 'SENT', leaseEndsMs: 2_000_000, sends: 2 }],
    ['that were never made', { sends: 0 }],
  ])('does not count calls %s', async (_, differs) => {
    const one = await splitWorld();
    const stored = { ...free, paidAgain: 0, ...differs };
    await one.table.put(BAD, stored, { expected: null, token: 'b' });

    const ended = await failChunk(CHUNK, failure, one.storage);

    expect(ended).toMatchObject({ kind: 'ended', summary: { calls: 0, failed: 2 } });
    expect((await one.table.get(BAD))?.row).toEqual(stored);
  });

  test('does not change, and neither does the cache, if it had ended before', async () => {
    const one = await splitWorld();
    await endChunk(CHUNK, results, one.storage);
    await one.table.put(BAD, { ...free, sends: 2, paidAgain: 0 }, { expected: null, token: 'b' });

    const ended = await failChunk(CHUNK, failure, one.storage);

    expect(ended).toMatchObject({ kind: 'was-ended', summary: { scored: 2, failed: 0 } });
    expect(await one.table.get(BAD)).toBeDefined();
  });
});

test('a failed job whose chunk another worker ends meanwhile leaves counting its calls to that worker', async () => {
  const one = await splitWorld();
  const key = cacheKey(HOST, { text: 'bad' });
  const counted = { payer: 'job-1', leaseEndsMs: 0, sends: 2, paidAgain: 0 };
  const free = { state: 'FREE', textHash: textHashOf('bad'), owner: 'w', ...counted };
  await one.table.put(key, free, { expected: null, token: 'b' });

  const ended = await failChunk(
    CHUNK,
    { error: 'the job failed', jobId: 'job-1' },
    meanwhile(one, () => endChunk(CHUNK, results, one.storage)),
  );

  expect(ended.kind).toBe('was-ended');
  expect((await one.table.get(key))?.row).toEqual(free);
});

describe('reopening a chunk', () => {
  test('with failed rows makes it open, and doing so again reports that it was open', async () => {
    const one = await splitWorld();
    await endChunk(CHUNK, [scored('1', 'good'), failed('2')], one.storage);

    expect(await reopenChunk(CHUNK, one.storage)).toBe('reopened');
    expect(await reopenChunk(CHUNK, one.storage)).toBe('was-open');
    expect((await rowOf(one)).row).toMatchObject({ state: 'open', part: partsIn(one)[0] });
  });

  test('that is complete, or was erased, changes nothing', async () => {
    const one = await splitWorld();
    await endChunk(CHUNK, results, one.storage);

    expect(await reopenChunk(CHUNK, one.storage)).toBe('complete');
    expect(await reopenChunk({ ...CHUNK, chunk: 1 }, one.storage)).toBe('gone');
    expect((await rowOf(one)).row.state).toBe('ended');
  });

  test('reads the row again if it has changed meanwhile', async () => {
    const one = await splitWorld();
    await endChunk(CHUNK, [scored('1', 'good'), failed('2')], one.storage);
    const changing = meanwhile(one, async () => {
      const { row: ended, token } = await rowOf(one);
      await writeChunkRow(CHUNK, { ...ended, staged: 'changed' }, token, one.storage);
    });

    expect(await reopenChunk(CHUNK, changing)).toBe('reopened');
    expect((await rowOf(one)).row).toMatchObject({ state: 'open', staged: 'changed' });
  });

  test('that is erased meanwhile does nothing', async () => {
    const one = await splitWorld();
    await endChunk(CHUNK, [scored('1', 'good'), failed('2')], one.storage);
    const erasing = meanwhile(one, () => forgetBatch('b1', one.storage));

    expect(await reopenChunk(CHUNK, erasing)).toBe('gone');
  });

  test('makes a later end prefer the result of the row itself to the result of an equal text', async () => {
    const one = world();
    await splitBatch(batchOf([row(1, 'good'), row(2, 'good')]), one.split);
    await endChunk(CHUNK, [scored('1', 'good'), failed('2')], one.storage);
    await reopenChunk(CHUNK, one.storage);

    const ended = await endChunk(CHUNK, [scored('2', 'bad')], one.storage);

    expect(ended).toMatchObject({ summary: { scored: 2, calls: 3, cached: 0 } });
    expect(partLines(one.store)).toMatchObject([{ sentiment: 'positive' }, { sentiment: 'negative' }]);
  });
});
