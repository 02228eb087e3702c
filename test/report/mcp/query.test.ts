import { afterAll, beforeAll, expect, test } from 'vitest';
import { MOST_RESULT_BYTES } from '../../../lib/report/mcp/answer.ts';
import { loadDuckDb } from '../../../lib/tables/duckdb/database.ts';
import { openTables, type Tables } from '../../../lib/tables/duckdb/open-tables.ts';
import { monday, publishLines } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { connect, contextOver } from './connect.ts';

const store = createMemoryStore();
let tables: Tables;
let server: Awaited<ReturnType<typeof connect>>;

const ENDLESS = 'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t';

beforeAll(async () => {
  await publishLines(store, { run: monday, lines: ['{"id":123456789012345678901,"name":"Revenue"}'] });
  tables = await openTables(store, { memoryMb: 200, diskBytes: 1e8 });
  server = await connect(contextOver(store, { tables: async () => tables }));
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await tables[Symbol.asyncDispose]();
});

test('rows come as data, with ids of any length', async () => {
  const { value } = await server.call('query', { sql: 'SELECT id, name FROM calculations' });

  expect(value).toMatchObject({
    rows: 1,
    data: { rows: [['123456789012345678901', 'Revenue']] },
    status: 'complete',
  });
});

test('rows are bounded by their number and their bytes', async () => {
  const many = await server.call('query', { sql: 'SELECT * FROM range(5000)', maxRows: 7 });
  const large = await server.call('query', {
    sql: "SELECT repeat('\"', 1000) FROM range(500)",
    maxRows: 500,
  });
  const oversize = await server.call('query', { sql: "SELECT repeat('x', 500000)" });

  expect(many.value).toMatchObject({ rows: 5000, status: 'cut' });
  expect((many.value as { data: { rows: unknown[] } }).data.rows).toHaveLength(7);
  expect(large.bytes).toBeLessThanOrEqual(MOST_RESULT_BYTES);
  expect(large.value).toMatchObject({ rows: 500, status: 'cut' });
  expect(oversize.text).toContain('select fewer columns');
});

test('a query that would run for ever is stopped after its time, and by the client', async () => {
  const late = await server.call('query', { sql: ENDLESS, seconds: 1 });
  const cancel = new AbortController();
  const cancelled = server.call('query', { sql: ENDLESS }, cancel.signal);
  cancel.abort(new Error('enough'));

  expect(late.isError).toBe(true);
  expect(late.text).toContain('longer than 1 s');
  await expect(cancelled).rejects.toThrow();
  expect((await server.call('query', { sql: 'SELECT 1' })).value).toMatchObject({ rows: 1 });
});

test.each([
  "SELECT * FROM read_text('/etc/hosts')",
  "SELECT * FROM 'https://example.com/x.csv'",
  "COPY calculations TO '/tmp/stolen.csv'",
  'SET lock_configuration = false',
  "ATTACH '/tmp/x.db'",
  'INSTALL httpfs',
  'SELECT 1; SELECT 2',
  '',
])('%s is refused', async (sql) => {
  const { isError, text } = await server.call('query', { sql });

  expect(isError).toBe(true);
  expect(text).not.toContain('localhost');
});

test('without DuckDB it says what to install', async () => {
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  const context = contextOver(store, {
    tables: async () => {
      await loadDuckDb(() => Promise.reject(missing));
      throw new Error('not reached');
    },
  });
  await using without = await connect(context);

  const { isError, text } = await without.call('query', { sql: 'SELECT 1' });

  expect(isError).toBe(true);
  expect(text).toContain('npm install @duckdb/node-api@');
});
