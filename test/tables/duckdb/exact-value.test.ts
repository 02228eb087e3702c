import { afterAll, expect, test } from 'vitest';
import { openTables } from '../../../lib/tables/duckdb/open-tables.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

const tables = await openTables(createMemoryStore());

afterAll(() => tables[Symbol.asyncDispose]());

/** Expressions of SQL, and their values as JSON. */
const VALUES: readonly (readonly [sql: string, value: unknown])[] = [
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740993', '9007199254740993'],
  ['-9007199254740993', '-9007199254740993'],
  ['123456789012345678901234567890::HUGEINT', '123456789012345678901234567890'],
  ['sum(7::BIGINT)', 7],
  ['1.50', 1.5],
  ['-0.01::DECIMAL(18, 2)', -0.01],
  ['123456789012345.5', '123456789012345.5'],
  ['0.1::DOUBLE', 0.1],
  ["'NaN'::DOUBLE", 'NaN'],
  ["'-Infinity'::DOUBLE", '-Infinity'],
  ["TIMESTAMP '2026-11-21 09:00:00'", '2026-11-21T09:00:00.000Z'],
  ["TIMESTAMP '1969-12-31 23:59:59.999999'", '1969-12-31T23:59:59.999999Z'],
  ["TIMESTAMPTZ '2026-11-21 09:00:00+02'", '2026-11-21T07:00:00.000Z'],
  ["'infinity'::TIMESTAMP", 'infinity'],
  ["DATE '2026-11-21'", '2026-11-21'],
  ["INTERVAL '1' DAY", '1 day'],
  ["'\\xAA'::BLOB", '\\xAA'],
  ['[1, NULL, 9007199254740993]', [1, null, '9007199254740993']],
  ["{'a': {'b': [true]}}", { a: { b: [true] } }],
  ["MAP {'x': [1], '__proto__': [2]}", JSON.parse('{"x": [1], "__proto__": [2]}')],
  ['\'{"a": 1.50}\'::JSON', '{"a": 1.50}'],
  ["'a\u{1F600}\u0000b'", 'a\u{1F600}\u0000b'],
  ['NULL', null],
];

test('query results are JSON without loss', async () => {
  const { first } = await tables.run(
    `SELECT ${VALUES.map(([sql]) => sql.replaceAll('\u0000', "' || chr(0) || '")).join(', ')}`,
    { maxRows: 1 },
  );

  expect(first).toEqual([VALUES.map(([, value]) => value)]);
});

test('columns of the same name are distinguished', async () => {
  const { columns } = await tables.run('SELECT 1 AS a, 2 AS a', { maxRows: 1 });

  expect(columns.map(({ name }) => name)).toEqual(['a', 'a_1']);
});
