import { expect, test } from 'vitest';
import type { Store } from '../../../lib/store/store.ts';
import { writeTables } from '../../../lib/tables/build/build-tables.ts';
import { monday, publishLines, tuesday } from '../../snapshot/changes/publish-lines.ts';
import { storeOfEach } from '../../store/store-of-each.ts';

const store = storeOfEach();

const write = (store: Store, published?: string, isOver = () => false) =>
  writeTables({ published }, { store, isOver, warn: () => undefined });

test('a call without enough time says what is left, and the next call builds it', async () => {
  for (const run of [monday, tuesday]) await publishLines(store, { run, lines: ['{"id":1}'] });
  let asked = 0;
  const afterOne = () => {
    asked += 1;
    return asked > 2;
  };

  const first = await write(store, undefined, afterOne);
  const second = await write(store);
  const before = new Map(store.objects);

  expect(first).toMatchObject({ made: 1, records: 1, left: { group: 'calculations', name: monday.id } });
  expect(second).toMatchObject({ made: 1, left: undefined });
  expect(await write(store)).toEqual({ made: 0, files: 0, records: 0, skipped: [], left: undefined });
  expect(store.objects).toEqual(before);
});

test('building tables names the runs that are damaged, and why', async () => {
  await publishLines(store, { run: monday, lines: ['no JSON'] });

  expect(await write(store)).toMatchObject({
    made: 0,
    skipped: [expect.stringMatching(`calculations ${monday.id}: .*expected a record as JSON`)],
  });
});

test('a call for a place that was published builds only the tables of that place', async () => {
  await publishLines(store, { run: monday, lines: ['{"id":1}'] });
  await publishLines(store, { place: 'calculations.mine', run: monday, lines: ['{"id":1}'] });

  const written = await write(store, 'any/prefix/calculations.mine/latest.json');

  expect(written).toMatchObject({ made: 1, records: 1, left: undefined });
  expect([...store.objects.keys()].filter((key) => key.startsWith('parquet/calculations'))).toEqual([
    expect.stringMatching(/^parquet\/calculations\.mine\/.*part-00000\.parquet$/),
    expect.stringMatching(/_made\.json$/),
    expect.stringMatching(/_tables-[0-9a-f]{12}-[0-9a-f]{12}-1\.json$/),
  ]);
});
