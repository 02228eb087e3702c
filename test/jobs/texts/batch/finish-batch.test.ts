import { describe, expect, test } from 'vitest';
import type { ChunkCounts } from '../../../../lib/jobs/texts/batch/chunk-counts.ts';
import {
  finishBatch,
  readChunkRow,
  readHeader,
  writeChunkRow,
  writeHeader,
} from '../../../../lib/jobs/texts/batch/finish-batch.ts';
import type { Store } from '../../../../lib/store/store.ts';
import type { Table } from '../../../../lib/table/table.ts';
import { summaryOf, world } from './batch-suite.ts';

type BatchHeader = Parameters<typeof writeHeader>[1];

const counts: ChunkCounts = {
  rows: 10,
  scored: 5,
  failed: 2,
  cancelled: 0,
  bad: 2,
  erased: 1,
  cached: 3,
  calls: 4,
  paidAgain: 1,
  tokens: { input: 1, output: 2, total: 3, reasoning: 4 },
  sentiments: { overall: { good: 4 }, topics: { Price: { bad: 1 } } },
};

type Row = Parameters<typeof writeChunkRow>[1];

const ended = (chunk: number, differs: Partial<ChunkCounts> = {}): Row => ({
  state: 'ended',
  staged: 'abc',
  badRows: [],
  part: `part ${chunk}`,
  counts: { ...counts, ...differs },
});

/** A batch with this header, if any, and these chunk rows. */
async function batchWith(header: Partial<BatchHeader> | undefined, rows: readonly (Row | undefined)[]) {
  const one = world();
  for (const [chunk, row] of rows.entries())
    if (row !== undefined) await writeChunkRow({ batch: 'b1', chunk }, row, null, one.storage);
  if (header !== undefined)
    await writeHeader('b1', { chunks: rows.length, rows: 0, badRows: 0, ...header }, one.storage);
  let lists = 0;
  const table: Table = {
    ...one.table,
    list(...given) {
      lists += 1;
      return one.table.list(...given);
    },
  };
  const finish = () => finishBatch('b1', { ...one.storage, table });
  return { finish, lists: () => lists, store: one.store };
}

const open: Row = { state: 'open', staged: 'abc', badRows: [] };

test.each<[string, Partial<BatchHeader> | undefined, readonly (Row | undefined)[], number]>([
  ['without a header', undefined, [ended(0)], 0],
  ['while its last chunk is open, which costs no list', {}, [ended(0), open], 0],
  ['while its first chunk is open', {}, [open, ended(1)], 0],
  ['while a chunk has no row', {}, [ended(0), undefined], 0],
  ['while a chunk is open that is not among the last eight', {}, [open, ...Array(8).fill(ended(1))], 1],
  ['while one of the last eight chunks has no row', {}, [undefined, ...Array(8).fill(ended(1))], 1],
  ['while a chunk that was reopened is open', {}, [{ ...ended(0), state: 'open' }], 0],
])('a batch is not finished: %s', async (_, header, rows, lists) => {
  const batch = await batchWith(header, rows);

  expect(await batch.finish()).toBeUndefined();

  expect(batch.lists()).toBe(lists);
  expect(summaryOf(batch.store)).toBeNull();
});

describe('the summary of a batch', () => {
  test('is not replaced by an older summary that arrives late', async () => {
    const one = world();
    await writeChunkRow({ batch: 'b1', chunk: 0 }, ended(0), null, one.storage);
    await writeHeader('b1', { chunks: 1, rows: 0, badRows: 0 }, one.storage);
    const late: (() => Promise<unknown>)[] = [];
    const lost: Store['put'] = async (...given) => {
      late.push(() => one.store.put(...given));
      throw new Error('no response');
    };
    for (const failed of [1, 0]) {
      const found = await readChunkRow({ batch: 'b1', chunk: 0 }, one.storage);
      await writeChunkRow({ batch: 'b1', chunk: 0 }, ended(0, { failed }), found?.token ?? null, one.storage);
      const finish = finishBatch('b1', { ...one.storage, store: { ...one.store, put: lost } });
      await expect(finish).rejects.toThrow('no response');
      await finishBatch('b1', one.storage);
    }

    for (const arrives of late.toReversed()) await arrives();

    expect(summaryOf(one.store)).toMatchObject({ failed: 0 });
  });

  test('has its parts in the order of the chunks, even if the table lists them in another order', async () => {
    const one = world();
    for (const chunk of [0, 1, 2])
      await writeChunkRow({ batch: 'b1', chunk }, ended(chunk), null, one.storage);
    await writeHeader('b1', { chunks: 3, rows: 0, badRows: 0 }, one.storage);
    const list: Table['list'] = async function* reversed(partition) {
      yield* (await Array.fromAsync(one.table.list(partition))).toReversed();
    };

    const summary = await finishBatch('b1', { ...one.storage, table: { ...one.table, list } });

    expect(summary?.parts.map(({ key }) => key)).toEqual(['part 0', 'part 1', 'part 2']);
  });

  test('has the sums of its chunks, and lists their parts in order', async () => {
    const second = {
      rows: 1,
      scored: 1,
      failed: 0,
      cancelled: 0,
      bad: 0,
      erased: 0,
      cached: 1,
      calls: 0,
      paidAgain: 0,
      tokens: { input: 10, output: 20, total: 30, reasoning: 40 },
      sentiments: {
        overall: { good: 1, bad: 2 },
        topics: { Price: { bad: 3, average: 1 }, Care: { good: 1 } },
      },
    };
    const batch = await batchWith({}, [ended(0), ended(1, second)]);

    const summary = await batch.finish();

    expect(summary).toEqual({
      version: 1,
      batch: 'b1',
      chunks: 2,
      rows: 11,
      scored: 6,
      failed: 2,
      cancelled: 0,
      bad: 2,
      erased: 1,
      cached: 4,
      calls: 4,
      paidAgain: 1,
      tokens: { input: 11, output: 22, total: 33, reasoning: 44 },
      sentiments: {
        overall: { good: 5, bad: 2 },
        topics: { Price: { bad: 4, average: 1 }, Care: { good: 1 } },
      },
      badRows: [],
      parts: [
        { key: 'part 0', rows: 10 },
        { key: 'part 1', rows: 1 },
      ],
    });
    expect(summaryOf(batch.store)).toEqual(summary);
    expect(Object.keys(summary?.sentiments.topics ?? {})).toEqual(['Care', 'Price']);
    expect(Object.keys(summary?.sentiments.topics['Price'] ?? {})).toEqual(['average', 'bad']);
  });

  test('counts cancelled rows', async () => {
    const batch = await batchWith({}, [ended(0, { cancelled: 2 }), ended(1)]);

    expect(await batch.finish()).toMatchObject({ cancelled: 2 });
  });

  test('lists the first thousand bad rows in the order of the source', async () => {
    const badRow = (line: number) => ({ line, fault: 'no text' });
    const lines = Array.from({ length: 999 }, (_, index) => badRow(index + 100));
    const batch = await batchWith({}, [
      { ...ended(0), badRows: lines },
      { ...ended(1), badRows: [badRow(5_001), badRow(5_000)] },
    ]);

    const summary = await batch.finish();

    expect(summary?.badRows).toEqual([...lines, badRow(5_000)]);
  });
});

test('a header is stored once: the same one is accepted again, and another one is not', async () => {
  const { storage } = world();
  const header = { chunks: 1, rows: 2, badRows: 0 };

  const first = await writeHeader('b1', header, storage);
  const again = await writeHeader('b1', header, storage);
  const other = await writeHeader('b1', { ...header, rows: 3 }, storage);

  expect([first, again, other]).toEqual([true, true, false]);
  expect(await readHeader('b1', storage)).toEqual(header);
  expect(await readHeader('b2', storage)).toBeUndefined();
});
