import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { macros } from '../../../lib/tables/catalog/index.ts';
import { savedQueries } from '../../../lib/tables/catalog/saved-queries.ts';
import { openTables } from '../../../lib/tables/duckdb/open-tables.ts';
import { savedSql, splitStatements } from '../../../lib/tables/duckdb/query-text.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

const docs = readFileSync('docs/tables.md', 'utf8');
const saved = savedQueries().map(({ name }) => name);
const written = [...docs.matchAll(/```sql\n([\s\S]*?)```/g)].flatMap(
  ([, sql = '']) => splitStatements(sql).ended,
);

test('if nothing is published, the queries of the docs and the saved ones return no rows, and no error', async () => {
  await using tables = await openTables(createMemoryStore());
  // They are tested in one query, since each query creates its own databases.
  const each = [...written, ...saved.map(savedSql)].map((sql) => `SELECT 1 FROM (\n${sql}\n)`);

  expect(await tables.run(each.join('\nUNION ALL '), { maxRows: 1 })).toMatchObject({ rows: 0, faults: [] });
});

test('the docs have an example of each query that is called like a function', () => {
  expect(macros.filter(({ name }) => !written.some((sql) => sql.includes(`${name}(`)))).toEqual([]);
});

test('the docs name each table that SQL can read', async () => {
  await using tables = await openTables(createMemoryStore());
  const listed = (await tables.list()).map(({ name }) => name);

  expect(listed.filter((name) => !docs.includes(`\`${name}\``) && !/^(?:latest|all)_/.test(name))).toEqual(
    [],
  );
});
