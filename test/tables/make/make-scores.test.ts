import { describe, expect, test } from 'vitest';
import { printPart, type ScoredRow } from '../../../lib/jobs/texts/batch/part.ts';
import { textHashOf } from '../../../lib/jobs/texts/cache/cache-row.ts';
import { forgetText } from '../../../lib/jobs/texts/forget.ts';
import type { Store } from '../../../lib/store/store.ts';
import { forgetChangedParquet, makeBatch, segmentsOfBatches } from '../../../lib/tables/make/make-scores.ts';
import { summaryOf } from '../../jobs/summary-of.ts';
import { batchOf, runBatch, world } from '../../jobs/texts/batch/batch-suite.ts';
import { row } from '../../jobs/texts/fakes.ts';
import { beforeFirst } from '../../store/before.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { atEachOperation } from './killed-at.ts';
import { queryFolder } from './parquet-of-folder.ts';

const FOLDER = 'parquet/scores/b1/';

const make = (store: Store, segment = 'b1') =>
  makeBatch(segment, { store, isOver: () => false, isDry: false });

/** A finished batch of these chunks. */
async function storeWith(
  chunks: readonly (readonly ScoredRow[])[],
  store = createMemoryStore(),
): Promise<MemoryStore> {
  const parts = chunks.map((rows, chunk) => printPart({ batch: 'b1', chunk }, rows));
  for (const { key, body } of parts) await store.put(key, body);
  const summary = summaryOf(
    'b1',
    parts.map(({ key }) => ({ key, rows: 1 })),
  );
  await store.put('scores/b1/_summary.json', Buffer.from(JSON.stringify(summary)));
  return store;
}

const GOOD: ScoredRow = {
  id: 'my-1',
  line: 2,
  columns: { region: 'Süd', stars: '5' },
  textHash: textHashOf('good'),
  topicSentiments: { price: 'Positive' },
  sentiment: 'Positive',
  model: 'm1',
};
const FAILED: ScoredRow = { id: 'my-2', line: 3, textHash: textHashOf('bad'), error: 'too long' };

const parquetIn = ({ objects }: MemoryStore) =>
  [...objects.keys()].filter((key) => key.startsWith('parquet/'));

describe('a finished batch', () => {
  test('has a row for each text, with its batch and chunk', async () => {
    const store = await storeWith([[GOOD, FAILED], [{ id: 'my-3', line: 4, erased: true }]]);

    expect(await make(store)).toMatchObject({ files: 1, records: 3, other: 0, isLeft: false });

    const none = { columns: [], sentiment: null, topicsentiments: null, model: null, error: null };
    expect(
      await queryFolder(
        store,
        FOLDER,
        'SELECT * REPLACE (coalesce(map_entries(columns), []) AS columns) FROM parquet ORDER BY line',
      ),
    ).toEqual([
      {
        ...{ batch: 'b1', chunk: '0', line: '2', id: 'my-1', erased: null, textHash: undefined },
        ...{ texthash: textHashOf('good'), _other: null, error: null, sentiment: 'Positive', model: 'm1' },
        columns: [
          { key: 'region', value: 'Süd' },
          { key: 'stars', value: '5' },
        ],
        topicsentiments: '{"price":"Positive"}',
      },
      {
        ...none,
        batch: 'b1',
        chunk: '0',
        line: '3',
        id: 'my-2',
        erased: null,
        texthash: textHashOf('bad'),
        error: 'too long',
        _other: null,
      },
      { ...none, batch: 'b1', chunk: '1', line: '4', id: 'my-3', erased: true, texthash: null, _other: null },
    ]);
  });

  test('is made again when it is scored again, and not otherwise', async () => {
    const store = await storeWith([[GOOD, FAILED]]);
    await make(store);

    const again = await make(store);
    await storeWith([[GOOD, { id: 'my-2', line: 3, sentiment: 'Negative' }]], store);
    const scored = await make(store);

    expect([again, scored]).toMatchObject([{ files: 0 }, { files: 1, records: 2 }]);
    expect(await queryFolder(store, FOLDER, `SELECT sentiment FROM parquet WHERE line = 3`)).toEqual([
      { sentiment: 'Negative' },
    ]);
  });

  test('of which a part is lost is not made, and the part is named', async () => {
    const store = await storeWith([[GOOD], [FAILED]]);
    const [, lost = ''] = [...store.objects.keys()].filter((key) => key.includes('/part-'));
    await store.delete(lost);

    await expect(make(store)).rejects.toThrow(lost);
  });
});

test('a batch without a summary has no Parquet, and loses what it had', async () => {
  const store = await storeWith([[GOOD]]);
  await make(store);
  await store.delete('scores/b1/_summary.json');

  expect(await segmentsOfBatches({ store })).toEqual(['b1']);
  expect(await make(store)).toMatchObject({ files: 0 });
  expect(parquetIn(store)).toEqual([]);
});

describe('forgetting', () => {
  async function scored() {
    const one = world();
    await runBatch(batchOf([row(1, 'good'), row(2, 'bad')]), one);
    await make(one.store);
    return one;
  }

  test('a text deletes the Parquet of its batch, and the next has it no more', async () => {
    const one = await scored();

    await forgetText(textHashOf('bad'), one.storage);
    await forgetChangedParquet(one.store);
    const after = parquetIn(one.store);
    await make(one.store);

    expect(after).toEqual([]);
    expect(await queryFolder(one.store, FOLDER, 'SELECT line, texthash FROM parquet ORDER BY line')).toEqual([
      { line: '1', texthash: textHashOf('good') },
      { line: '2', texthash: null },
    ]);
  });

  test('a text leaves the Parquet of other batches', async () => {
    const one = await scored();

    await forgetText(textHashOf('another'), one.storage);
    await forgetChangedParquet(one.store);

    expect(parquetIn(one.store).sort()).toEqual([`${FOLDER}_made.json`, `${FOLDER}part-00000.parquet`]);
  });

  test('a text while its batch is being made leaves nothing of it', async () => {
    const one = await scored();
    for (const key of parquetIn(one.store)) await one.store.delete(key);
    const slow = beforeFirst(
      one.store,
      'put',
      (key) => key.endsWith('.parquet'),
      async () => {
        await forgetText(textHashOf('bad'), one.storage);
        await forgetChangedParquet(one.store);
      },
    );

    await make(slow);

    expect(await queryFolder(one.store, FOLDER, 'SELECT texthash FROM parquet ORDER BY line')).toEqual([
      { texthash: textHashOf('good') },
      { texthash: null },
    ]);
  });
});

test('whoever is killed while a batch is made leaves no row twice, and the next finishes', async () => {
  const begin = async () => {
    const store = await storeWith([[GOOD], [FAILED]]);
    await make(store);
    return storeWith([[GOOD], [{ ...FAILED, erased: true }]], store);
  };

  await atEachOperation(begin, make, async (store, at) => {
    expect(
      (await queryFolder(store, FOLDER, 'SELECT line FROM parquet ORDER BY line')).map(({ line }) => line),
      at,
    ).toEqual(['2', '3']);
    await make(store);
    expect(await queryFolder(store, FOLDER, 'SELECT line FROM parquet WHERE erased')).toEqual([
      { line: '3' },
    ]);
  });
});
