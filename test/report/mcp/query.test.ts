import { afterAll, expect, test } from 'vitest';
import { MAX_RESULT_BYTES } from '../../../lib/report/mcp/answer.ts';
import { savedQueries } from '../../../lib/tables/catalog/saved-queries.ts';
import { openTables } from '../../../lib/tables/duckdb/open-tables.ts';
import { loadDuckDb } from '../../../lib/tables/duckdb/schema.ts';
import { monday, publishLines } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { connect, contextOver } from './connect.ts';

const store = createMemoryStore();
const ENDLESS = 'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t';

await publishLines(store, { run: monday, lines: ['{"id":123456789012345678901,"name":"Revenue"}'] });
const tables = await openTables(store, { memoryMb: 200, diskBytes: 1e8, onlyTables: true });
const server = await connect(contextOver(store, { tables: async () => tables }));

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await tables[Symbol.asyncDispose]();
});

test('rows are returned as data, with ids of any length', async () => {
  const { value } = await server.call('query', { sql: 'SELECT id, name FROM calculations' });

  expect(value).toMatchObject({
    rows: 1,
    data: { rows: [['123456789012345678901', 'Revenue']] },
    status: 'complete',
  });
});

test('rows are limited by their number and their bytes', async () => {
  const many = await server.call('query', { sql: 'SELECT * FROM range(5000)', maxRows: 7 });
  const large = await server.call('query', {
    sql: "SELECT repeat('\"', 1000) FROM range(500)",
    maxRows: 500,
  });
  const oversize = await server.call('query', { sql: "SELECT repeat('x', 500000)" });
  const nearly = await server.call('query', { sql: "SELECT repeat('x', 99500)" });

  expect(many.value).toMatchObject({ rows: 5000, status: 'cut' });
  expect((many.value as { data: { rows: unknown[] } }).data.rows).toHaveLength(7);
  expect(large.bytes).toBeLessThanOrEqual(MAX_RESULT_BYTES);
  expect(large.value).toMatchObject({ rows: 500, status: 'cut' });
  for (const { text } of [oversize, nearly]) expect(text).toContain('select fewer columns');
});

test('a query that would run forever is stopped after its time limit, and by the client', async () => {
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
  "SELECT * FROM read_blob('/etc/hosts')",
  "SELECT * FROM read_csv('/etc/passwd')",
  "SELECT * FROM read_json('/etc/hosts')",
  "SELECT * FROM read_parquet('/etc/hosts')",
  "SELECT * FROM parquet_metadata('/etc/hosts')",
  "SELECT * FROM sniff_csv('/etc/passwd')",
  "SELECT * FROM glob('/etc/*')",
  "FROM '/etc/passwd.csv'",
  "SELECT * FROM 'https://example.com/x.csv'",
  "COPY calculations TO '/tmp/stolen.csv'",
  "EXPORT DATABASE '/tmp/stolen'",
  "ATTACH '/tmp/x.db'",
  'INSTALL httpfs',
  'LOAD httpfs',
  'PRAGMA database_size',
  'CALL duckdb_settings()',
  'SET lock_configuration = false',
  'RESET memory_limit',
  "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')",
  'SELECT * FROM duckdb_settings()',
  'SELECT * FROM "Duckdb_Settings"()',
  'SELECT * FROM system.main.duckdb_settings()',
  'SELECT (SELECT any_value(value) FROM duckdb_settings()) FROM calculations',
  'WITH x AS MATERIALIZED (SELECT * FROM duckdb_settings()) SELECT count(*) FROM x',
  'SELECT * FROM calculations, LATERAL (SELECT * FROM duckdb_settings())',
  'SELECT * FROM pg_settings',
  'SELECT * FROM system.pg_catalog.pg_settings',
  'SELECT * FROM duckdb_secrets()',
  'SELECT * FROM duckdb_extensions()',
  'SELECT * FROM duckdb_databases',
  'SELECT * FROM pragma_database_size()',
  "SELECT * FROM which_secret('s3://a/b', 's3')",
  "SELECT current_setting('temp_directory')",
  "SELECT 'temp_directory'.current_setting()",
  'SELECT "current_setting"(\'temp_directory\')',
  'SELECT U&"current\\005fsetting"(\'temp_directory\')',
  "SELECT system.main.current_setting('temp_directory')",
  "SELECT id FROM calculations ORDER BY current_setting('threads')",
  "SELECT getenv('HOME')",
  "SELECT * FROM query('SELECT * FROM duckdb_set' || 'tings()')",
  "SELECT * FROM query_table('calculations')",
  "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
  'SELECT * FROM enable_logging()',
  "PIVOT calculations ON current_setting('temp_directory') USING count(*)",
  "FROM (PIVOT duckdb_settings() ON name IN ('threads') USING any_value(value))",
  'DESCRIBE SELECT * FROM duckdb_settings()',
  'SUMMARIZE pg_settings',
  'SHOW pg_settings',
  'SELECT 1; SELECT 2',
  '',
])('the query %s is refused', async (sql) => {
  const { isError, text } = await server.call('query', { sql });

  expect({ isError, text }).toEqual({
    isError: true,
    text: expect.stringMatching(/expected|does not exist|Parser|disabled/),
  });
  expect(text).not.toContain('localhost');
});

test.each([
  'SELECT name FROM calculations',
  'FROM calculations SELECT id',
  'TABLE calculations',
  'VALUES (1)',
  'SHOW TABLES',
  'DESCRIBE calculations',
  'SUMMARIZE calculations',
  'SELECT * FROM broken_links()',
  'SELECT * FROM range(3)',
  'WITH c AS (SELECT id FROM calculations) SELECT * FROM c -- all',
  "FROM (PIVOT calculations ON name IN ('Revenue') USING count(*))",
  'SELECT key FROM json_each(\'{"a":1}\')',
  'SELECT column_name FROM information_schema.columns LIMIT 1',
])('the query %s returns rows and no error', async (sql) => {
  const { isError, text } = await server.call('query', { sql });

  expect({ isError, text }).toMatchObject({ isError: false });
});

test('every saved query runs without an error', async () => {
  for (const { name } of savedQueries())
    expect(await server.call('query', { saved: name })).toMatchObject({ isError: false });
});

test('without DuckDB the tool says what to install', async () => {
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
