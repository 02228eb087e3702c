import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { publishedFolder } from '../../../lib/snapshot/keys.ts';
import { createDirectoryStore } from '../../../lib/store/directory.ts';
import type { Store } from '../../../lib/store/store.ts';
import { openTables } from '../../../lib/tables/duckdb/open-tables.ts';
import { folderOfEach } from '../../folder-of-each.ts';
import { monday, tuesday } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { publishParquet } from './publish-parquet.ts';
import { calculation } from './published.ts';

const lines = [
  calculation(
    1036,
    'Revenue',
    '"locked":1,"created":1700000000123,"links":[{"resource":{"type":"CARD","id":7}}]',
  ),
  calculation('123456789012345678901234567890', 'Cost'),
];

const publish = (store: Store) =>
  publishParquet(store, { run: monday, lines, more: [calculation(3, 'in Parquet')] });

/** A store that records the keys whose bytes are read. */
function watch(store: Store) {
  const read: string[] = [];
  const watched: Store = {
    ...store,
    get(key, options) {
      if (key.endsWith('.parquet')) read.push(key);
      return store.get(key, options);
    },
  };
  return { watched, read };
}

const NAMES = 'SELECT name FROM calculations ORDER BY name';

async function run(store: Store, sql = NAMES) {
  await using tables = await openTables(store);
  const { first, faults, notes } = await tables.run(sql, { maxRows: 100 });
  return { values: first.flat(), faults, notes };
}

const inParquet = { values: ['Cost', 'Revenue', 'in Parquet'], faults: [], notes: [] };
const inPart = {
  values: ['Cost', 'Revenue'],
  faults: [],
  notes: [expect.stringMatching(/\.parquet is lost or damaged: its records are read from calculations\//)],
};

describe('if a store is a directory', () => {
  const folder = folderOfEach();
  let store: Store;

  beforeEach(() => {
    store = createDirectoryStore(folder.path);
  });

  test('a run is read from its Parquet, in place', async () => {
    await publish(store);

    const { watched, read } = watch(store);

    expect(await run(watched)).toEqual(inParquet);
    expect(read).toEqual([]);
  });

  test('a value that does not fit its column is in `_other`, and times are timestamps', async () => {
    await publish(store);

    const { values } = await run(
      store,
      "SELECT locked, _other, created_at, links[1].resource.id FROM calculations WHERE id = '1036'",
    );

    expect(values).toEqual([null, '{"locked":1}', '2023-11-14T22:13:20.123Z', '7']);
  });

  test('a Parquet file that is missing or too short is built again from the part', async () => {
    const { key } = await publish(store);
    const path = join(folder.path, key);

    await writeFile(path, (await readFile(path)).subarray(1));
    expect(await run(store)).toEqual(inPart);
    await rm(path);
    expect(await run(store)).toEqual(inPart);
  });

  test.each([
    ['a page', 40, 43],
    ['its pages', 8, -100],
    ['all of it', 4, -1],
  ])('a file damaged in %s is read from its part, and hashed once a session', async (_, start, end) => {
    const { key } = await publish(store);
    const path = join(folder.path, key);
    const body = await readFile(path);
    await writeFile(path, Buffer.from(body).fill(0x55, start, end < 0 ? body.length + end : end));

    expect(await run(store)).toEqual(inPart);
    await writeFile(path, body);
    expect(await run(store)).toEqual(inParquet);
  });

  test('a run that is removed while a query reads it is skipped, and a note says so', async () => {
    const old = await publish(store);
    await publishParquet(store, { run: tuesday, lines: lines.slice(0, 1) });
    const gone = join(folder.path, old.key);
    // The run is removed after the query has found the file, before DuckDB opens it.
    const racing: Store = {
      ...store,
      fileOf: async (key) => {
        const found = await store.fileOf?.(key);
        if (key !== old.key || found === undefined) return found;
        setImmediate(
          () => void rm(join(folder.path, publishedFolder('calculations', monday)), { recursive: true }),
        );
        setImmediate(() => void rm(gone, { force: true }));
        return found;
      },
    };

    const found = await run(racing, 'SELECT DISTINCT run FROM all_calculations');

    expect(found).toMatchObject({ values: [tuesday.id], faults: [] });
    expect(found.notes).toContain(
      'runs were removed while they were read; the result is from the runs that are left',
    );
  });

  test('a query cannot change a Parquet file', async () => {
    const { key } = await publish(store);
    const before = await readFile(join(folder.path, key));

    await expect(run(store, `COPY (SELECT 1) TO '${join(folder.path, key)}'`)).rejects.toThrow(
      'expected a query',
    );
    expect(await readFile(join(folder.path, key))).toEqual(before);
  });
});

describe('if a store is not a directory', () => {
  test('Parquet is fetched once a session', async () => {
    const store = createMemoryStore();
    const { key } = await publish(store);
    const { watched, read } = watch(store);

    await using tables = await openTables(watched);
    await tables.run(NAMES, { maxRows: 1 });
    const { rows } = await tables.run(NAMES, { maxRows: 1 });

    expect(rows).toBe(3);
    expect(read).toEqual([key]);
  });

  test('an altered Parquet file is built again from the part', async () => {
    const store = createMemoryStore();
    const { key } = await publish(store);
    await store.put(key, Buffer.from('other'));

    expect(await run(store)).toEqual(inPart);
  });

  test('an object that is damaged in both forms is skipped, and named', async () => {
    const store = createMemoryStore();
    const { key } = await publish(store);
    const part = [...store.objects.keys()].filter((each) => /^calculations\/.*part-/.test(each));
    await store.delete(key);
    for (const each of part) await store.put(each, Buffer.from('other'));

    expect(await run(store)).toMatchObject({ values: [], faults: [expect.stringContaining('part-00000')] });
  });

  test('a query that needs more disk space than is free is refused before anything is read', async () => {
    const store = createMemoryStore();
    await publish(store);
    await using tables = await openTables(store, { diskBytes: 100 });

    await expect(tables.run(NAMES, { maxRows: 1 })).rejects.toThrow(
      /^the query needs .* in the temporary folder, more than the limit of .*: narrow it by dt or run, or raise the limit$/,
    );
  });
});
