import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { savedSql } from '../../../lib/cli/query/saved.ts';
import { macros } from '../../../lib/tables/duckdb/macros.ts';
import { openTables, type Tables } from '../../../lib/tables/duckdb/open-tables.ts';
import { splitStatements } from '../../../lib/tables/duckdb/split-statements.ts';
import { savedQueries } from '../../../lib/tables/saved-queries.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

const docs = readFileSync('docs/tables.md', 'utf8');

let tables: Tables;

beforeAll(async () => {
  tables = await openTables(createMemoryStore());
});

afterAll(() => tables[Symbol.asyncDispose]());

const written = [...docs.matchAll(/```sql\n([\s\S]*?)```/g)].flatMap(
  ([, sql = '']) => splitStatements(sql).ended,
);

describe('with nothing published, there are no rows, and no error', () => {
  test.each(written)('of docs/tables.md: %s', async (sql) => {
    expect(await tables.run(sql, { maxRows: 1 })).toMatchObject({ rows: 0, faults: [] });
  });

  test.each(savedQueries().map(({ name }) => name))('of the saved query %s', async (name) => {
    expect(await tables.run(savedSql(name), { maxRows: 1 })).toMatchObject({ rows: 0, faults: [] });
  });
});

test('the docs have each query that is called like a table', () => {
  expect(macros.filter(({ name }) => !written.some((sql) => sql.includes(`${name}(`)))).toEqual([]);
});

test('the docs name each table', async () => {
  const listed = (await tables.list()).map(({ name }) => name);

  expect(listed.filter((name) => !docs.includes(`\`${name}\``) && !/^(?:latest|all)_/.test(name))).toEqual(
    [],
  );
});
