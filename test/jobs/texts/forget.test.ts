import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { scoreChunk } from '../../../lib/jobs/texts/batch/score-chunk.ts';
import { splitBatch } from '../../../lib/jobs/texts/batch/score-file.ts';
import { textHashOf } from '../../../lib/jobs/texts/cache/score-cache.ts';
import { forget, forgetBatch } from '../../../lib/jobs/texts/forget.ts';
import { scaled } from '../../scale.ts';
import {
  batchOf,
  mixedRows,
  partLines,
  resultsOf,
  runBatch,
  scheduled,
  summaryOf,
  type World,
  world,
} from './batch/batch-suite.ts';
import { crashing, row } from './fakes.ts';

const HASH = textHashOf('good 0');

/** Everything in the store and the table, as one string. */
async function everything({ store, table }: Pick<World, 'store' | 'table'>): Promise<string> {
  const rows = await Array.fromAsync(table.scan(''));
  return JSON.stringify([
    [...store.objects].map(([key, body]) => [key, body.toString()]),
    partLines(store),
    rows,
  ]);
}

test('a text is erased everywhere, and its rows keep their lines', async () => {
  const one = world();
  await runBatch(batchOf(mixedRows), one);
  const before = summaryOf(one.store);

  const erased = await forget({ textHash: HASH }, one.storage, { environment: {} });

  expect(erased).toEqual({
    cacheRows: 1,
    stagedChunks: 1,
    parts: 1,
    rows: 1,
    batches: ['b1'],
    oldVersions: 0,
  });
  expect(await everything(one)).not.toContain(HASH);
  expect(await everything(one)).not.toContain('"good 0"');
  expect(partLines(one.store)[0]).toMatchObject({ id: 'user-1', line: 1, erased: true });
  const after = summaryOf(one.store);
  expect(after).toEqual({
    ...before,
    scored: before.scored - 1,
    erased: 1,
    sentiments: {
      topics: {},
      overall: { ...before.sentiments.overall, positive: before.sentiments.overall.positive - 1 },
    },
    parts: after.parts,
  });
  expect(after.parts.map(({ key }: { key: string }) => one.store.objects.has(key))).toEqual([
    true,
    true,
    true,
  ]);
  expect(Object.keys(resultsOf(one.store))).toHaveLength(4);
});

test('a text is erased from staged chunks, whose jobs then end without it', async () => {
  const one = world();
  await splitBatch(batchOf([row(1, 'good 0'), row(2, 'bad')]), one.split);

  const erased = await forget({ textHash: HASH }, one.storage, { environment: {} });
  for (const message of one.messages) await scoreChunk(message, { ...one.scoring, ...one.storage });

  expect(erased).toMatchObject({ stagedChunks: 1, parts: 0, batches: ['b1'] });
  expect(partLines(one.store)[0]).toMatchObject({ id: 'user-1', line: 1, erased: true });
  expect(summaryOf(one.store)).toMatchObject({ scored: 1, erased: 1 });
  expect(one.paid).toEqual(['bad']);
});

test('a text erased while its chunk ends never appears in a part, whatever the interleaving', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const one = world();
      await splitBatch(batchOf([row(1, 'good 0'), row(2, 'bad')]), one.split);
      const storage = scheduled(one, scheduler);

      await scheduler.waitFor(
        Promise.all([
          forget({ textHash: HASH }, storage, { environment: {} }),
          ...one.messages.map((message) => scoreChunk(message, { ...one.scoring, ...storage })),
        ]),
      );

      const { parts } = summaryOf(one.store);
      expect(partLines(one.store).map(({ line, erased }) => [line, erased])).toEqual([
        [1, true],
        [2, undefined],
      ]);
      expect(one.store.objects.has(parts[0].key)).toBe(true);
    }),
    { numRuns: scaled(50, 300) },
  );
});

test('a batch is erased with its scores, and no other batch is', async () => {
  const one = world();
  await runBatch(batchOf(mixedRows), one);
  one.messages.splice(0);
  await runBatch(batchOf([row(1, 'other')], { batch: 'b2' }), one);

  const erased = await forgetBatch('b1', one.storage);

  expect(erased).toMatchObject({ stagedChunks: 3, parts: 3, rows: 230, batches: ['b1'] });
  expect(erased.cacheRows).toBe(new Set(one.paid).size - 1);
  expect(await everything(one)).not.toMatch(/\bb1\b/);
  expect(summaryOf(one.store, 'b2')).toMatchObject({ scored: 1 });
  expect(await forgetBatch('b1', one.storage)).toEqual({
    cacheRows: 0,
    stagedChunks: 0,
    parts: 0,
    rows: 0,
    batches: [],
  });
});

test('a job of an erased batch ends without a trace', async () => {
  const one = world();
  await splitBatch(batchOf(mixedRows), one.split);
  await forgetBatch('b1', one.storage);

  const [message] = one.messages;
  const ended = message && (await scoreChunk(message, { ...one.scoring, ...one.storage }));

  expect(ended).toMatchObject({ kind: 'scored', chunk: { kind: 'gone' } });
  expect([one.store.objects.size, one.paid]).toEqual([0, []]);
});

test('an invalid batch name is refused', async () => {
  await expect(forgetBatch('a/b', world().storage)).rejects.toThrow('expected a batch name, got "a/b"');
});

test.each(['text', 'batch'] as const)(
  'erasing a %s can be resumed after a crash at any write',
  async (what) => {
    const act = (storage: World['storage']) =>
      what === 'text' ? forget({ textHash: HASH }, storage, { environment: {} }) : forgetBatch('b1', storage);
    const rows = [row(1, 'good 0'), row(2, 'bad'), row(3, 'good 0')];
    const undisturbed = world();
    await runBatch(batchOf(rows), undisturbed);
    const counting = crashing(undisturbed, Number.POSITIVE_INFINITY, true);
    await act({ ...undisturbed.storage, ...counting });
    const expected = resultsOf(undisturbed.store);

    for (let at = 1; at <= counting.writes(); at += 1) {
      for (const made of [true, false]) {
        const one = world();
        await runBatch(batchOf(rows), one);
        await expect(act({ ...one.storage, ...crashing(one, at, made) })).rejects.toThrow();
        await act(one.storage);

        expect(resultsOf(one.store), `at ${at}`).toEqual(expected);
        expect(await everything(one)).not.toContain(HASH);
      }
    }
  },
);
