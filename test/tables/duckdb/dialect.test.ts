import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, describe, expect, test } from 'vitest';
import { duckDbMacros, duckDbSql } from '../../../lib/tables/duckdb/query-text.ts';

const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
for (const statement of duckDbMacros) await connection.run(statement);
await connection.run(`CREATE TABLE t AS SELECT * FROM (VALUES
  (1, [{'kind': 'a', 'of': {'id': 'x'}}, {'kind': 'b', 'of': {'id': NULL}}]), (2, []), (3, NULL)) AS v (id, links)`);

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const rowsOf = async (sql: string) =>
  (await connection.runAndReadAll(duckDbSql(sql))).getRowsJson().map((row) => row.map(String).join(' '));

test('UNNEST returns the fields of rows as columns, and keeps rows without any in a left join', async () => {
  expect(
    await rowsOf(
      'SELECT t.id, l.kind, l.place.id FROM t LEFT JOIN UNNEST(filter(t.links, l -> TRUE)) AS l (kind, place) ON TRUE ORDER BY t.id, l.kind',
    ),
  ).toEqual(['1 a x', '1 b null', '2 null null', '3 null null']);
});

describe('the functions of Trino:', () => {
  test.each([
    [`'{"a": {"b": "text"}}'`, '$.a.b', 'text'],
    [`'{"a": 999999999999999999999999999999}'`, '$.a', '999999999999999999999999999999'],
    [`'{"a": {"b": 1}}'`, '$.a', 'null'],
    [`'{"a": [1]}'`, '$.a', 'null'],
    [`'{"a": null}'`, '$.a', 'null'],
    [`'{}'`, '$.a', 'null'],
    [`'no JSON'`, '$.a', 'null'],
    [`'"text"'`, '$', 'text'],
    ['NULL', '$.a', 'null'],
  ])('json_extract_scalar(%s, %s) is %s', async (text, path, value) => {
    expect(await rowsOf(`SELECT json_extract_scalar(${text}, '${path}')`)).toEqual([value]);
  });

  test('try(json_parse) is null for invalid JSON', async () => {
    expect(
      await rowsOf(
        "SELECT try(CAST(json_parse(x) AS map(varchar, json))) FROM (VALUES ('{'), ('[1]')) AS v (x)",
      ),
    ).toEqual(['null', 'null']);
  });

  test('element_at and cardinality are null if there is no list', async () => {
    const first = 'element_at(filter(links, l -> l.of.id IS NOT NULL), 1).kind';

    expect(await rowsOf(`SELECT id, ${first}, cardinality(links) FROM t ORDER BY id`)).toEqual([
      '1 a 2',
      '2 null 0',
      '3 null null',
    ]);
  });

  test('array_join skips null', async () => {
    expect(await rowsOf("SELECT array_join(ARRAY['a', NULL, 'b'], ', ')")).toEqual(['a, b']);
  });
});
