import { expect, test } from 'vitest';
import { BatchConflictError, stagedKey } from '../../../../lib/jobs/texts/batch/batch.ts';
import { splitBatch } from '../../../../lib/jobs/texts/batch/score-file.ts';
import { textHashOf } from '../../../../lib/jobs/texts/cache/score-cache.ts';
import { forget } from '../../../../lib/jobs/texts/forget.ts';
import type { Store } from '../../../../lib/store/store.ts';
import type { Table } from '../../../../lib/table/table.ts';
import { row } from '../fakes.ts';
import { batchOf, partLines, runBatch, summaryOf, world } from './batch-suite.ts';

const ROWS = [row(1, 'good'), row(2, 'bad')];
const STAGED = stagedKey({ batch: 'b1', chunk: 0 });

test('a chunk that has ended is not staged again', async () => {
  const one = world();
  await runBatch(batchOf(ROWS), one);
  one.store.objects.delete(STAGED);

  expect(await splitBatch(batchOf(ROWS), one.split)).toMatchObject({ kind: 'split', chunks: 1 });

  expect(one.store.objects.has(STAGED)).toBe(false);
});

test('a text that was erased after a batch was split does not return when the batch is split again', async () => {
  const one = world();
  await splitBatch(batchOf(ROWS), one.split);
  await forget({ textHash: textHashOf('good') }, one.storage, { environment: {} });

  await splitBatch(batchOf(ROWS), one.split);

  expect(one.store.objects.get(STAGED)?.toString()).not.toContain('good');
});

test.each([
  ['unchanged', undefined],
  ['without a text that was erased since', 'good'],
])('a chunk that an earlier try staged, but stored no row for, is used %s', async (_, forgotten) => {
  const one = world();
  const given = [...ROWS, { id: 'user-3', line: 3, fault: 'no text' }];
  await splitBatch(batchOf(given), one.split);
  const again = world({ store: one.store });
  if (forgotten !== undefined)
    await forget({ textHash: textHashOf(forgotten) }, again.storage, { environment: {} });

  expect(await splitBatch(batchOf(given), again.split)).toMatchObject({ kind: 'split' });
  expect(again.messages).toEqual(one.messages);
  if (forgotten !== undefined) expect(one.store.objects.get(STAGED)?.toString()).not.toContain(forgotten);

  for (const rows of [[row(1, 'another')], [row(1, 'good')], ROWS]) {
    const other = world({ store: one.store });
    await expect(splitBatch(batchOf(rows), other.split)).rejects.toThrow(BatchConflictError);
    expect(other.messages).toEqual([]);
  }
});

test('bad rows have their id and columns in the summary, and in the part; long ones only in the part', async () => {
  const one = world();
  const own = { id: 'x', columns: { shop: 'A' } };
  const long = { id: 'y', columns: { note: 'n'.repeat(2_000) } };
  const rows = [
    row(1, 'good'),
    { line: 2, fault: 'no text', ...own },
    { line: 3, fault: 'no text', ...long },
  ];

  await runBatch(batchOf(rows), one);

  expect(summaryOf(one.store).badRows).toEqual([
    { line: 2, fault: 'no text', ...own },
    { line: 3, fault: 'no text' },
  ]);
  expect(partLines(one.store).slice(1)).toEqual([
    { line: 2, error: 'no text', ...own },
    { line: 3, error: 'no text', ...long },
  ]);
});

test('the summary has the detected format of the source, as the first splitter saw it', async () => {
  const one = world();
  const input = { format: 'csv', encoding: 'utf-8', separator: ',', skipped: 1, blank: 0, short: 0 } as const;

  await splitBatch(batchOf(ROWS, { input: () => input }), one.split);
  await runBatch(batchOf(ROWS), one);

  expect(summaryOf(one.store).input).toEqual(input);
});

test('a chunk or row that another process erases meanwhile is a conflict', async () => {
  const one = world();
  const put: Store['put'] = async () => ({ kind: 'condition-failed' });
  const putRow: Table['put'] = async () => ({ kind: 'other', current: undefined });

  await expect(splitBatch(batchOf(ROWS), { ...one.split, store: { ...one.store, put } })).rejects.toThrow(
    BatchConflictError,
  );
  await expect(
    splitBatch(batchOf(ROWS), { ...one.split, table: { ...one.table, put: putRow } }),
  ).rejects.toThrow(BatchConflictError);
});
