import { expect, test } from 'vitest';
import { duckDbType } from '../../../lib/tables/parquet/hive-type.ts';

test.each([
  ['string', 'VARCHAR'],
  ['array<bigint>', 'BIGINT[]'],
  ['map<string,array<string>>', 'MAP(VARCHAR, VARCHAR[])'],
  [
    'array<struct<resource:struct<type:string,id:string>,visible:boolean>>',
    'STRUCT("resource" STRUCT("type" VARCHAR, "id" VARCHAR), "visible" BOOLEAN)[]',
  ],
  ['timestamp', 'TIMESTAMP'],
])('%s is %s', (hive, duckDb) => {
  expect(duckDbType(hive)).toBe(duckDb);
});

test.each(['', 'int', 'array<string', 'array<string>>', 'struct<a>', 'map<string>', 'struct<a:string'])(
  '%j is no type of a table',
  (hive) => {
    expect(() => duckDbType(hive)).toThrow('expected a type of Hive');
  },
);
