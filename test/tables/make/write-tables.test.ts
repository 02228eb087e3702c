import { expect, test } from 'vitest';
import type { Store } from '../../../lib/store/store.ts';
import { writeTables } from '../../../lib/tables/make/write-tables.ts';
import { monday, publishLines } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

const NOON = Date.UTC(2026, 10, 22, 12);

async function storeWith(days: readonly string[]) {
  const store = createMemoryStore();
  for (const day of days)
    await store.put(`results/score/dt=${day}/a.json`, Buffer.from('{"version":1,"id":"a","type":"score"}'));
  return store;
}

/** A call that has time for so many files. */
function write(store: Store, files = 100, published?: string) {
  let asked = 0;
  const isOver = () => {
    asked += 1;
    return asked > 2 * files;
  };
  return writeTables({ store, published, resultsDays: 90, now: () => NOON, isOver, warn: () => undefined });
}

const made = (store: Awaited<ReturnType<typeof storeWith>>) =>
  [...store.objects.keys()]
    .filter((key) => key.endsWith('.parquet'))
    .map((key) => /dt=([^/]+)/.exec(key)?.[1]);

test('a call continues where the last one stopped, and the one after the last begins again', async () => {
  const store = await storeWith(['2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21']);

  const first = await write(store, 2);
  await store.put('results/score/dt=2026-11-21/b.json', Buffer.from('{"id":"b"}'));
  const second = await write(store, 2);
  const third = await write(store);

  expect(first).toMatchObject({ made: 2, records: 2, left: { group: 'results', name: 'score 2026-11-19' } });
  expect(second).toMatchObject({ made: 2, left: undefined });
  expect(third).toMatchObject({ made: 1, records: 2, left: undefined });
  expect(made(store)).toEqual(['2026-11-21', '2026-11-20', '2026-11-19', '2026-11-18']);
});

test('a call without anything to do stores nothing but what it has looked at', async () => {
  const store = await storeWith(['2026-11-21']);
  await write(store);
  const before = new Map(store.objects);

  expect(await write(store)).toEqual({ made: 0, files: 0, records: 0, skipped: [], left: undefined });
  expect(store.objects).toEqual(before);
});

test('a day that is older than a week is looked at once a week', async () => {
  const store = await storeWith(['2026-11-15', '2026-11-14', '2026-11-09', '2026-11-08', '2026-11-07']);

  await write(store);

  expect(made(store)).toEqual(['2026-11-15', '2026-11-08']);
});

test('what is damaged is named, and so is where a damaged record of the last call would continue', async () => {
  const store = await storeWith(['2026-11-20']);
  await store.put('results/score/dt=2026-11-21/a.json', Buffer.from('{'));
  await store.put('work/tables-left.json', Buffer.from('{'));

  expect(await write(store)).toMatchObject({
    made: 1,
    skipped: [expect.stringContaining('results/score/dt=2026-11-21/a.json: expected a record as JSON')],
  });
});

test('a call for a place that was published makes its tables alone, and leaves where the nightly one continues', async () => {
  const store = await storeWith(['2026-11-20', '2026-11-21']);
  await publishLines(store, { run: monday, lines: ['{"id":1}'] });
  await publishLines(store, { place: 'calculations.mine', run: monday, lines: ['{"id":1}'] });
  await write(store, 1);
  const left = store.objects.get('work/tables-left.json');

  const written = await write(store, 100, 'any/prefix/calculations.mine/latest.json');

  expect(written).toMatchObject({ made: 1, records: 1, left: undefined });
  expect([...store.objects.keys()].filter((key) => key.startsWith('parquet/calculations'))).toEqual([
    expect.stringMatching(/^parquet\/calculations\.mine\/.*part-00000\.parquet$/),
    expect.stringMatching(/_made\.json$/),
    expect.stringMatching(/_tables-[0-9a-f]{12}-[0-9a-f]{12}-1\.json$/),
  ]);
  expect(store.objects.get('work/tables-left.json')).toBe(left);
});
