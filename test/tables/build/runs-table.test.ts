import { describe, expect, test } from 'vitest';
import { publishedFolder } from '../../../lib/snapshot/keys.ts';
import type { Store } from '../../../lib/store/store.ts';
import { buildTables } from '../../../lib/tables/build/build-tables.ts';
import { openTables } from '../../../lib/tables/duckdb/open-tables.ts';
import { monday, publishLines, tuesday, wednesday } from '../../snapshot/changes/publish-lines.ts';
import { beforeEvery } from '../../store/before.ts';
import { storeOfEach } from '../../store/store-of-each.ts';

const KEY = 'parquet/runs/calculations.json';
const LINES = ['{"id":1,"name":"a"}', '{"id":2,"name":"b"}'];

const store = storeOfEach();

const publish = (of: Store, run: typeof monday) =>
  publishLines(of, { place: 'calculations', run, lines: LINES });

async function make(of: Store): Promise<void> {
  const making = { store: of, isOver: () => false, warn: () => undefined };
  for await (const outcome of buildTables({ ...making, places: ['calculations'] }))
    expect(outcome.kind).toBe('made');
}

/** The rows that Athena reads. */
async function rowsIn(of: Store): Promise<readonly Record<string, unknown>[]> {
  const body = (await of.get(KEY))?.body.toString() ?? '';
  return body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

/** The rows that our own queries read. */
async function queried(of: Store) {
  await using tables = await openTables(of);
  const { first, faults } = await tables.run(
    'SELECT run, latest, records, parquetbytes > 0, started_at FROM runs',
    { maxRows: 10 },
  );
  return { rows: first, faults };
}

describe('the list of published runs', () => {
  test('has one row for each run, and marks the latest run', async () => {
    await publish(store, monday);
    await publish(store, tuesday);
    // The list is built after the newest run is, and again with the older run.
    await make(store);

    const rows = await rowsIn(store);

    const parquet = { parquetbytes: expect.any(Number), other: 0, parts: 1, bytes: expect.any(Number) };
    const shared = { place: 'calculations', source: 'calculations', records: 2, missing: 0, ...parquet };
    expect(rows).toMatchObject([
      { ...shared, run: tuesday.id, dt: tuesday.startedAt.slice(0, 10), latest: true },
      { ...shared, run: monday.id, dt: monday.startedAt.slice(0, 10), latest: false },
    ]);
    expect(await queried(store)).toEqual({
      rows: [
        [tuesday.id, true, 2, true, tuesday.startedAt],
        [monday.id, false, 2, true, monday.startedAt],
      ],
      faults: [],
    });
  });

  test('has the number of pages that stayed degraded', async () => {
    await publishLines(store, { run: monday, lines: LINES, manifest: { degradedPages: 3 } });
    await publish(store, tuesday);

    await make(store);

    expect((await rowsIn(store)).map((row) => row['degraded_pages'])).toEqual([0, 3]);
    await using tables = await openTables(store);
    const { first } = await tables.run('SELECT degraded_pages FROM runs ORDER BY run', { maxRows: 10 });
    expect(first).toEqual([[3], [0]]);
  });

  test('is updated without reading a manifest again, and drops a run that was removed', async () => {
    for (const run of [monday, tuesday]) {
      await publish(store, run);
      await make(store);
    }
    await publish(store, wednesday);
    for (const key of [...store.objects.keys()])
      if (key.startsWith(publishedFolder('calculations', monday))) await store.delete(key);
    const read: string[] = [];

    await using tables = await openTables(beforeEvery(store, 'get', (key) => read.push(key)));
    const { first } = await tables.run('SELECT run FROM runs ORDER BY run', { maxRows: 10 });

    expect(first).toEqual([[tuesday.id], [wednesday.id]]);
    expect(read.filter((key) => key.includes('_manifest') && !key.includes(wednesday.id))).toEqual([]);
    await make(store);
    expect((await rowsIn(store)).map(({ run }) => run)).toEqual([wednesday.id, tuesday.id]);
  });

  test('is computed from manifests until it is stored, and while it is damaged', async () => {
    await publish(store, monday);
    const rows = [[monday.id, true, 2, null, monday.startedAt]];
    expect(await queried(store)).toEqual({ rows, faults: [] });

    await store.put(KEY, Buffer.from('{"of":'));
    expect(await queried(store)).toEqual({ rows, faults: [] });
    await make(store);

    expect(await rowsIn(store)).toMatchObject([{ run: monday.id, parquetbytes: expect.any(Number) }]);
  });
});
