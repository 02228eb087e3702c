import { expect, test } from 'vitest';
import { recordedResults } from '../../../../lib/jobs/texts/batch/recorded-results.ts';
import { splitBatch } from '../../../../lib/jobs/texts/batch/split-batch.ts';
import { scoreTexts } from '../../../../lib/jobs/texts/scoring/score-texts.ts';
import { row } from '../fakes.ts';
import { batchOf, world } from './batch-suite.ts';

test('a chunk has one recorded result a text, and none of bad rows', async () => {
  const one = world();
  await splitBatch(batchOf([row(1, 'good'), { line: 2, fault: 'no text' }, row(3, 'bad')]), one.split);
  await scoreTexts([{ id: '1', text: 'good' }], {}, one.scoring);

  const { results } = await recordedResults(
    { batch: 'b1', chunk: 0 },
    { error: 'the job failed', payer: 'job' },
    one.storage,
  );

  expect(results).toMatchObject([
    { id: '1', result: { sentiment: 'POSITIVE' }, cached: true },
    { id: '3', error: 'the job failed', calls: 0 },
  ]);
  expect(results).toHaveLength(2);
});
