import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { duckDbMacros, duckDbSql } from '../../lib/tables/duckdb-dialect.ts';

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  for (const statement of duckDbMacros) await connection.run(statement);
  await connection.run(`CREATE TABLE t AS SELECT * FROM (VALUES
    (1, [{'kind': 'a', 'of': {'id': 'x'}}, {'kind': 'b', 'of': {'id': NULL}}]), (2, []), (3, NULL)) AS v (id, links)`);
});

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const rowsOf = async (sql: string) =>
  (await connection.runAndReadAll(duckDbSql(sql))).getRowsJson().map((row) => row.map(String).join(' '));

describe('UNNEST in a join', () => {
  test('gives the fields of rows as columns, and keeps rows without any in a left join', async () => {
    expect(
      await rowsOf(
        'SELECT t.id, l.kind, l.place.id FROM t LEFT JOIN UNNEST(t.links) AS l (kind, place) ON TRUE ORDER BY t.id, l.kind',
      ),
    ).toEqual(['1 a x', '1 b null', '2 null null', '3 null null']);
  });

  test('gives plain values as one column, and leaves out rows without any in a cross join', async () => {
    expect(
      await rowsOf(
        'SELECT t.id, k.kind FROM t CROSS JOIN UNNEST(transform(t.links, l -> upper(l.kind))) AS k (kind) ORDER BY 2',
      ),
    ).toEqual(['1 A', '1 B']);
  });

  test('needs names for its columns', () => {
    expect(() => duckDbSql('SELECT * FROM t CROSS JOIN UNNEST(links)')).toThrow(
      'UNNEST: expected AS NAME (COLUMN, …) after it, got something else',
    );
  });

  test('is closed', () => {
    expect(() => duckDbSql('SELECT * FROM t CROSS JOIN UNNEST(filter(links)')).toThrow('as many ) as (');
  });
});

test('any_match is null for no list, and false for an empty one, within lambdas too', async () => {
  expect(await rowsOf("SELECT id, any_match(links, l -> l.kind = 'b') FROM t ORDER BY id")).toEqual([
    '1 true',
    '2 false',
    '3 null',
  ]);
  expect(
    await rowsOf(
      "SELECT id FROM t WHERE any_match(links, l -> any_match(ARRAY[l.kind], k -> k = 'a')) ORDER BY id",
    ),
  ).toEqual(['1']);
});

test('texts, quoted names and comments stay as they are', () => {
  const sql = `SELECT 'any_match(a -> b)', "transform(x)", 'it''s (' -- filter(a -> b`;

  expect(duckDbSql(sql)).toBe(sql);
});

describe('the functions of Trino', () => {
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

  test('try(json_parse) is null for what is no JSON', async () => {
    expect(
      await rowsOf(
        "SELECT try(CAST(json_parse(x) AS map(varchar, json))) FROM (VALUES ('{'), ('[1]')) AS v (x)",
      ),
    ).toEqual(['null', 'null']);
  });

  test('array_join skips null', async () => {
    expect(await rowsOf("SELECT array_join(ARRAY['a', NULL, 'b'], ', ')")).toEqual(['a, b']);
  });
});
