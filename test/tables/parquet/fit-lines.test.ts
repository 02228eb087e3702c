import { describe, expect, test } from 'vitest';
import { createLineFitter } from '../../../lib/tables/parquet/fit-lines.ts';
import { createParquetFile } from '../../../lib/tables/parquet/parquet-writer.ts';
import { jsonOf } from '../../snapshot/page/json-of.ts';
import { oddTable } from './odd-lines.ts';
import { fittedRows, queryParquet, writeLines } from './parquet-rows.ts';

/** The row of a line, and how many of its members are in `_other`. */
async function fitted(line: string) {
  const { rows, other } = await fittedRows([line]);
  return { row: rows[0] ?? {}, others: other };
}

const columnOf = async (line: string, name: keyof typeof oddTable) =>
  (await fitted(line)).row[name.toLowerCase()];

describe('a line', () => {
  test('that has a name twice has the last one in the column, and is in _other as a whole', async () => {
    expect(await fitted(' {"id":"a","count":1.50, "id":"b"}')).toMatchObject({
      row: { id: 'b', count: null, _other: '{"id":"a","count":1.50, "id":"b"}' },
      others: 1,
    });
  });

  test('has a map of many keys', async () => {
    const sizes = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key ${index}`, index]));

    const { row, others } = await fitted(JSON.stringify({ sizes }));

    expect(row['sizes']).toEqual(
      Object.entries(sizes).map(([key, value]) => ({ key, value: String(value) })),
    );
    expect(others).toBe(0);
  });

  test('that is nested deeper than any parser goes is in _other', async () => {
    const deep = `{"id":${'['.repeat(100_000)}1${']'.repeat(100_000)}}`;

    expect(await columnOf(deep, '_other')).toBe(deep);
  });

  test('has a long text with and without escapes', async () => {
    const text = 'ä'.repeat(100_000);

    expect(await columnOf(JSON.stringify({ id: text }), 'id')).toBe(text);
    expect(await columnOf(JSON.stringify({ id: `${text}\n` }), 'id')).toBe(`${text}\n`);
  });

  test.each(['{"id":1', '{"id":1}}', '{"id" 1}', '{"id":1}{"id":2}', 'id', '{"id":01}'])(
    'that is not JSON is an error: %s',
    (line) => {
      expect(() => writeLines([line])).toThrow(SyntaxError);
    },
  );
});

describe('columns', () => {
  test('need one for what does not fit', () => {
    expect(() => createLineFitter({ id: 'string' })).toThrow('expected a column _other of type string');
  });

  test('have a moment only of integers', () => {
    expect(() => createLineFitter({ id: 'string', id_at: 'timestamp', _other: 'string' })).toThrow(
      'id_at: expected a column id of type bigint before it',
    );
  });

  test('have only types that are known', () => {
    expect(() => createLineFitter({ id: 'array<int>', _other: 'string' })).toThrow(TypeError);
    expect(() => createLineFitter({ id: 'map<bigint,string>', _other: 'string' })).toThrow(TypeError);
  });
});

describe('a column of JSON', () => {
  const table = { value: 'json', _other: 'string' };

  test.each([
    '{"a": [1.0,  1e3], "b":"\\uD83D\\ude00 \\\\ud800"}',
    '"text"',
    '12345678901234567890123',
    'false',
    `"${'x'.repeat(70_000)}"`,
  ])('has a value byte for byte', async (json) => {
    const { bytes } = writeLines([`{"value": ${json} }`], table);

    expect(await queryParquet(bytes)).toEqual([{ value: json, _other: null }]);
  });

  test('has ? for half of a surrogate pair, and _other has the value byte for byte', async () => {
    const json = '{"\\ud83d":["\\ude00\\uD83D\\ud83d\\uDE00", "\\\\\\udc00\\n"]}';
    const { bytes } = writeLines([`{"value":${json}}`], table);

    expect(await queryParquet(bytes)).toEqual([
      { value: '{"?":["??\\ud83d\\uDE00", "\\\\?\\n"]}', _other: `{"value":${json}}` },
    ]);
  });

  test('has nothing for null', async () => {
    const { bytes } = writeLines(['{"value":null}'], table);

    expect(await queryParquet(bytes)).toEqual([{ value: null, _other: null }]);
  });
});

test('a line that is not JSON adds nothing', async () => {
  const file = createParquetFile(oddTable);
  const line = '{"id":"a","tags":["x"],"links":{"y":["z"]},"count":1,"place":{"kind":';

  file.add(jsonOf('{"id":"1"}'), 0, 10);
  expect(() => file.add(jsonOf(line), 0, line.length)).toThrow(SyntaxError);
  file.add(jsonOf('{"id":"2"}'), 0, 10);

  const { body: bytes } = file.end();
  expect(await queryParquet(bytes, 'SELECT id, tags, count FROM parquet')).toEqual([
    { id: '1', tags: null, count: null },
    { id: '2', tags: null, count: null },
  ]);
});
