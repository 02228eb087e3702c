import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { reopenChunk } from '../../../../lib/jobs/texts/batch/finish-batch.ts';
import { endChunk } from '../../../../lib/jobs/texts/batch/score-chunk.ts';
import { splitBatch } from '../../../../lib/jobs/texts/batch/score-file.ts';
import { textHashOf } from '../../../../lib/jobs/texts/cache/score-cache.ts';
import { forget } from '../../../../lib/jobs/texts/forget.ts';
import { scaled, scaledTimeout } from '../../../scale.ts';
import { row } from '../fakes.ts';
import { batchOf, before, keysOf, scheduled, summaryOf, type World, world } from './batch-suite.ts';

const CHUNK = { batch: 'b1', chunk: 0 };

async function splitChunk(): Promise<World> {
  const one = world();
  await splitBatch(batchOf([row(1, 'good'), row(2, 'bad'), row(3, 'fair')]), one.split);
  return one;
}

const counts = { cached: false, calls: 1, paidAgain: 0 };
const scored = (id: string) => ({ id, result: { type: 'DEFAULT', sentiment: 'positive' }, ...counts });

/** Ends the chunk with all texts scored, or with a failed second one. */
const end = (storage: World['storage'], isSecondScored = true) =>
  endChunk(
    CHUNK,
    [scored('1'), isSecondScored ? scored('2') : { id: '2', error: 'no luck', ...counts }, scored('3')],
    storage,
  );

/** Asserts that the only stored part is the one that the summary names. */
const expectPart = (one: World) =>
  expect(keysOf(one, 'scores/b1/part-')).toEqual([summaryOf(one.store).parts[0].key]);

test('a late worker does not delete an identical part that was stored after the chunk was reopened', async () => {
  const one = await splitChunk();
  const late = before(
    { storage: before(one, ['table', 'put', /chunk-00000/], () => end(one.storage, false)) },
    ['store', 'delete', /part-00000/],
    async () => {
      await reopenChunk(CHUNK, one.storage);
      await end(one.storage);
    },
  );

  expect((await end(late)).kind).toBe('was-ended');

  expectPart(one);
  expect(summaryOf(one.store)).toMatchObject({ scored: 3, failed: 0 });
});

test(
  'if a chunk is ended twice while it is reopened and a text is erased, one part remains, whatever the interleaving',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.boolean(), async (scheduler, isForgotten) => {
        const one = await splitChunk();
        const storage = scheduled(one, scheduler);
        const again = async () => {
          while ((await reopenChunk(CHUNK, storage)) === 'was-open');
          await end(storage);
        };

        const forgotten =
          isForgotten && forget({ textHash: textHashOf('fair') }, storage, { environment: {} });
        await scheduler.waitFor(Promise.all([end(storage), end(storage, false), again(), forgotten]));

        expectPart(one);
        await reopenChunk(CHUNK, one.storage);
        await end(one.storage);
        expectPart(one);
        expect(summaryOf(one.store)).toMatchObject({ failed: 0, scored: isForgotten ? 2 : 3 });
      }),
      { numRuns: scaled(50, 10_000) },
    );
  },
  scaledTimeout(300_000),
);
