import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openTables } from '../../../lib/tables/duckdb/open-tables.ts';
import { QueryError } from '../../../lib/tables/duckdb/query-text.ts';
import { folderOfAll } from '../../folder-of-each.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { publishTwoRuns } from './published.ts';

const store = createMemoryStore();
await publishTwoRuns(store);
const folder = folderOfAll();
await writeFile(join(folder, 'a.csv'), 'a\n1\n');
const tables = await openTables(store, { temporary: folder });

afterAll(() => tables[Symbol.asyncDispose]());

/** The error of a query. */
async function errorOf(sql: string, options: { seconds?: number; signal?: AbortSignal } = {}) {
  const ended = await tables.run(sql, { maxRows: 1, ...options }).then(
    ({ first }) => first,
    (error: unknown) => error,
  );
  return ended as QueryError;
}

describe('a query only reads:', () => {
  test.each([
    'CREATE TABLE x AS SELECT 1',
    "COPY (SELECT 1) TO 'x.csv'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO 'x.csv'",
    "ATTACH 'x.db'",
    'INSTALL httpfs',
    'SET memory_limit = 1',
    'PRAGMA enable_profiling',
    'DROP VIEW calculations',
    'CALL pragma_version()',
    'INSERT INTO calculations (id) VALUES (1)',
    'BEGIN',
    'SELECT 1; DROP VIEW calculations',
    "PIVOT calculations ON id USING count(*); COPY (SELECT 1) TO 'x.csv'",
    '',
    ' ; -- nothing',
  ])('%j is refused', async (sql) => {
    const error = await errorOf(sql);

    expect(error).toBeInstanceOf(QueryError);
    expect(error.failure.kind).toBe('sql');
    expect(error.message).toMatch(/^expected (one|a) query/);
  });

  test.each([
    (file: string) => `SELECT * FROM read_csv('${file}')`,
    (file: string) => `SELECT * FROM '${file}'`,
    (file: string) => `SELECT content FROM read_text('${file}')`,
    () => "SELECT * FROM glob('/etc/*')",
    () => "SELECT * FROM read_parquet('https://example.com/a.parquet')",
  ])('no file can be read: %s', async (sql) => {
    const error = await errorOf(sql(join(folder, 'a.csv')));

    expect(error).toBeInstanceOf(QueryError);
    expect(error.message).toMatch(/Permission Error|Catalog Error|Missing Extension/);
  });
});

test.each([
  'WITH x AS (SELECT 1 AS id) INSERT INTO calculations (id) SELECT id FROM x',
  "FROM calculations; COPY (SELECT 1) TO 'x.csv'",
])('SQL that begins as a query but writes is refused: %s', async (sql) => {
  expect((await errorOf(sql)).failure?.kind).toBe('sql');
});

describe('the error of a wrong query', () => {
  test('has its position', async () => {
    const { message, failure } = await errorOf('SELECT nam\nFROM calculations\nWHERE nam = 1');

    expect(failure.kind).toBe('sql');
    expect(message).toContain('Binder Error: Referenced column "nam" not found');
    expect(message).toContain('"name"');
    expect(message).toContain('LINE 3: WHERE nam = 1');
  });

  test.each([
    ['SELECT c.nam FROM calculations AS c', 'name'],
    ['SELECT cards.owner FROM cards JOIN datasets USING (dataset_id)', 'owner_id'],
    ['SELECT calculations.lastmodifed FROM calculations', 'lastmodified'],
  ])('suggests the nearest column of a table: %s', async (sql, nearest) => {
    expect((await errorOf(sql)).message).toContain(`Did you mean "${nearest}"?`);
  });

  test('has its position even if the fault appears only when values are read', async () => {
    const { message, failure } = await errorOf('SELECT 1,\nid::INT FROM calculations');

    expect(failure.kind).toBe('sql');
    expect(message).toContain("Could not convert string '123456789012345678901234567890'");
    expect(message).toContain('LINE 2: id::INT');
  });
});

describe('a query is stopped', () => {
  const endless = 'WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) FROM x';

  test('when its time is over', async () => {
    const error = await errorOf(endless, { seconds: 0.3 });

    expect(error.failure).toEqual({ kind: 'too-long', seconds: 0.3 });
  });

  test('by its signal, with the reason of the signal', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('stopped by SIGINT')), 300);

    expect(
      await errorOf('SELECT sum(hash(i)) FROM range(1000000000000) r(i)', { signal: stop.signal }),
    ).toEqual(new Error('stopped by SIGINT'));
    expect(await errorOf('SELECT 1', { signal: stop.signal })).toEqual(new Error('stopped by SIGINT'));
  });

  test('when it needs more memory than it may have', async () => {
    await using small = await openTables(store, { temporary: folder, memoryMb: 100 });
    const ended = small.run('SELECT list(i) FROM range(20_000_000) r(i)', { maxRows: 1 });

    await expect(ended).rejects.toMatchObject({ failure: { kind: 'too-large' } });
  });
});

test('if one of the last rows fails, the query fails and returns no earlier rows', async () => {
  const error = await errorOf(
    "SELECT CASE i WHEN 900000 THEN error('late') ELSE i::VARCHAR END FROM range(1000000) r(i)",
  );

  expect(error.message).toContain('late');
});

test('a query removes its temporary folder', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'left-'));

  const opened = await openTables(store, { temporary: parent });
  await opened.run('SELECT * FROM calculations', { maxRows: 1 });
  const during = await readdir(parent);
  await opened[Symbol.asyncDispose]();

  expect(during).toEqual([expect.stringMatching(/^platform-sync-query-/)]);
  expect(await readdir(parent)).toEqual([]);
  await rm(parent, { recursive: true });
});
