import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { previewBatch } from '../../../../lib/jobs/texts/batch/preview.ts';
import { splitBatch } from '../../../../lib/jobs/texts/batch/split-batch.ts';
import type { ScoreCache } from '../../../../lib/jobs/texts/cache/score-cache.ts';
import { scoreTexts } from '../../../../lib/jobs/texts/scoring/score-texts.ts';
import { row, rowsOf } from '../fakes.ts';
import { batchOf, mixedRows, world } from './batch-suite.ts';

const distinct = new Set(mixedRows.flatMap((each) => ('text' in each ? [each.text] : [])));

test.each([undefined, 1, 7, 50])(
  'counts the same rows, texts and calls when a pass holds %s texts',
  async (mostHeld) => {
    const { split, scoring } = world();
    await scoreTexts([{ id: '1', text: 'good 0' }], {}, scoring);

    const preview = await previewBatch({ ...split, request: {}, rows: rowsOf(mixedRows), mostHeld });

    expect(preview).toEqual({
      rows: 230,
      badRows: 4,
      texts: distinct.size,
      cached: 1,
      calls: distinct.size - 1,
      seconds: Math.ceil((distinct.size - 1) / 2),
    });
  },
);

test('reads the rows once per pass, and needs several passes to hold half of the texts at a time', async () => {
  const { split } = world();
  let opened = 0;
  const rows = () => {
    opened += 1;
    return rowsOf(mixedRows)();
  };

  await previewBatch({ ...split, request: {}, rows });
  await previewBatch({ ...split, request: {}, rows, mostHeld: distinct.size / 2 });

  expect(opened).toBeGreaterThanOrEqual(3);
  expect(opened).toBeLessThanOrEqual(6);
});

test('refuses a batch over its limit of calls before anything is sent', async () => {
  const { split, messages, store } = world();

  const refused = await splitBatch(batchOf(mixedRows), { ...split, maxCalls: 100 });

  expect(refused).toMatchObject({
    kind: 'refused',
    reasons: [
      `230 rows hold ${distinct.size} distinct texts, of which 0 are cached: ${distinct.size} calls, over the limit of 100`,
    ],
    preview: { calls: distinct.size },
  });
  expect([messages.length, store.objects.size]).toEqual([0, 0]);
});

test('refuses a batch that takes more than ten days at the given rate, with the arithmetic', async () => {
  const { split } = world();
  const rows = Array.from({ length: 100 }, (_, index) => row(index, `text ${index}`));

  const refused = await splitBatch(batchOf(rows), { ...split, rate: 0.0001 });

  expect(refused).toMatchObject({
    reasons: [
      '100 rows hold 100 distinct texts, of which 0 are cached: 100 calls, which take 11.6 days at 0.0001 a second, over the limit of 10 days',
    ],
  });
});

test('equal texts do not count against the ten days', async () => {
  const { split } = world();
  const rows = Array.from({ length: 100 }, (_, index) => row(index, 'good'));

  expect(await splitBatch(batchOf(rows), { ...split, rate: 0.0001 })).toMatchObject({ kind: 'split' });
});

/** Previews these texts; returns what it found, and how often the rows were opened. */
async function previewOf(texts: readonly string[], mostHeld?: number) {
  const { split } = world();
  let passes = 0;
  const rows = () => {
    passes += 1;
    return rowsOf(texts.map((text, at) => row(at + 1, text)))();
  };
  return { ...(await previewBatch({ ...split, request: {}, rows, mostHeld })), passes: () => passes };
}

test('a pass holds as many texts as it may', async () => {
  const texts = Array.from({ length: 20 }, (_, at) => `text ${at}`);

  expect((await previewOf(texts, 20)).passes()).toBe(1);
  expect((await previewOf(texts, 19)).passes()).toBeGreaterThan(1);
});

test('texts that no range can part are held all the same', async () => {
  const preview = await previewOf(['good', 'good'], 0);

  expect(preview).toMatchObject({ rows: 2, texts: 1, calls: 1 });
  expect(preview.passes()).toBeLessThanOrEqual(64);
});

test('looks up fifty texts at once', async () => {
  const { split } = world();
  let [open, most] = [0, 0];
  const find: ScoreCache['find'] = async () => {
    open += 1;
    most = Math.max(most, open);
    await setImmediate();
    open -= 1;
    return undefined;
  };
  const rows = rowsOf(Array.from({ length: 120 }, (_, at) => row(at + 1, `text ${at}`)));

  await previewBatch({ ...split, request: {}, rows, cache: { ...split.cache, find } });

  expect(most).toBe(50);
});
