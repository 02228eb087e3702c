import { expect, test } from 'vitest';
import { duckDbType, parquetSchema } from '../../../lib/tables/parquet/hive-type.ts';

test.each([
  ['string', 'VARCHAR'],
  ['array<bigint>', 'BIGINT[]'],
  ['map<string,array<string>>', 'MAP(VARCHAR, VARCHAR[])'],
  [
    'array<struct<resource:struct<type:string,id:string>,visible:boolean>>',
    'STRUCT("resource" STRUCT("type" VARCHAR, "id" VARCHAR), "visible" BOOLEAN)[]',
  ],
  ['timestamp', 'TIMESTAMP'],
])('the type %s is written to Parquet as %s', (hive, duckDb) => {
  expect(duckDbType(hive)).toBe(duckDb);
});

test.each(['', 'int', 'array<string', 'array<string>>', 'struct<a>', 'map<string>', 'struct<a:string'])(
  '%j is not a valid type of a table',
  (hive) => {
    expect(() => duckDbType(hive)).toThrow('expected a type of Hive');
  },
);
test('lists and maps are groups of three levels, with the names that the Parquet format prescribes', () => {
  const schema = parquetSchema({ Tags: 'array<string>', links: 'map<string,bigint>' });

  expect(schema).toEqual([
    { name: 'row', num_children: 2 },
    { name: 'tags', repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    { name: 'links', repetition_type: 'OPTIONAL', converted_type: 'MAP', num_children: 1 },
    { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
    { name: 'key', repetition_type: 'REQUIRED', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    { name: 'value', repetition_type: 'OPTIONAL', type: 'INT64' },
  ]);
});

test('a timestamp is milliseconds in UTC', () => {
  expect(parquetSchema({ made_at: 'timestamp' })).toContainEqual({
    name: 'made_at',
    repetition_type: 'OPTIONAL',
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
  });
});
