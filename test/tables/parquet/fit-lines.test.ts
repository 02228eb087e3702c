import { describe, expect, test } from 'vitest';
import { createLineFitter } from '../../../lib/tables/parquet/fit-lines.ts';
import type { oddTable } from './odd-lines.ts';
import { fittedRows, queryParquet, writeLines } from './parquet-rows.ts';

/** The row of a line, and the number of its members in `_other`. */
async function fitted(line: string) {
  const { rows, other } = await fittedRows([line]);
  return { row: rows[0] ?? {}, others: other };
}

const columnOf = async (line: string, name: keyof typeof oddTable) =>
  (await fitted(line)).row[name.toLowerCase()];

describe('a line that is written as a row', () => {
  test('with a repeated name has the last value, in its column and in _other', async () => {
    expect(await fitted(' {"id":"a","count":1.50, "x" : 1,"id":"b", "\\u0078":2}')).toMatchObject({
      row: { id: 'b', count: null, _other: '{"count":1.50,"\\u0078":2}' },
      others: 2,
    });
  });

  test('with a repeated name does not affect the rows around it', async () => {
    const { rows } = await fittedRows([
      '{"id":"a"}',
      '{"id":"b","count":1,"id":"c","count":2}',
      '{"id":"a"}',
    ]);

    expect(rows.map(({ id, count }) => [id, count])).toEqual([
      ['a', null],
      ['c', '2'],
      ['a', null],
    ]);
  });

  test.each([
    ['1e3', '1000'],
    ['1.0', '1'],
    ['1.6E12', '1600000000000'],
    ['-12.50e2', '-1250'],
    ['9223372036854775807', '9223372036854775807'],
    ['9.223372036854775808e18', null],
    ['1.5', null],
  ])('may have an integer in any notation: %s', async (written, value) => {
    expect(await columnOf(`{"id":"a","count":${written}}`, 'count' as never)).toBe(value);
  });

  test('may have a map with many keys', async () => {
    const sizes = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key ${index}`, index]));

    const { row, others } = await fitted(JSON.stringify({ sizes }));

    expect(row['sizes']).toEqual(
      Object.entries(sizes).map(([key, value]) => ({ key, value: String(value) })),
    );
    expect(others).toBe(0);
  });

  test('is in `_other` if it is nested deeper than any parser allows', async () => {
    const deep = `{"id":${'['.repeat(100_000)}1${']'.repeat(100_000)}}`;

    expect(await columnOf(deep, '_other')).toBe(deep);
  });

  test('may have a long string, with and without escapes', async () => {
    const text = 'ä'.repeat(100_000);

    expect(await columnOf(JSON.stringify({ id: text }), 'id')).toBe(text);
    expect(await columnOf(JSON.stringify({ id: `${text}\n` }), 'id')).toBe(`${text}\n`);
  });

  test.each(['{"id":1', '{"id":1}}', '{"id" 1}', '{"id":1}{"id":2}', 'id', '{"id":01}'])(
    'is an error if it is not JSON: %s',
    (line) => {
      expect(() => writeLines([line])).toThrow(SyntaxError);
    },
  );
});

describe('the declared columns of a table', () => {
  test('must include a column for values that do not fit', () => {
    expect(() => createLineFitter({ id: 'string' })).toThrow('expected a column _other of type string');
  });

  test('may have a timestamp only of an integer column', () => {
    expect(() => createLineFitter({ id: 'string', id_at: 'timestamp', _other: 'string' })).toThrow(
      'id_at: expected a column id of type bigint before it',
    );
  });

  test('may have only known types', () => {
    expect(() => createLineFitter({ id: 'array<int>', _other: 'string' })).toThrow(TypeError);
    expect(() => createLineFitter({ id: 'map<bigint,string>', _other: 'string' })).toThrow(TypeError);
  });
});

describe('a column of JSON', () => {
  const table = { value: 'json', _other: 'string' };

  test.each([
    '{"a": [1.0,  1e3], "b":"\\uD83D\\ude00 \\\\ud800"}',
    '12345678901234567890123',
    'false',
    `["${'x'.repeat(70_000)}"]`,
  ])('has a value byte for byte', async (json) => {
    const { bytes } = writeLines([`{"value": ${json} }`], table);

    expect(await queryParquet(bytes)).toEqual([{ value: json, _other: null }]);
  });

  test.each([
    ['{"a":1, "b":[{"c":1,"c" : 2}],"a":[3]}', '{"b":[{"c" : 2}],"a":[3]}'],
    ['{"\\u0061":1,"a":2}', '{"a":2}'],
    ['[{"a":"x","a":"\\ud800"}]', '[{"a":"?"}]'],
  ])('has only the last of the members with one name: %s', async (json, last) => {
    const { bytes } = writeLines([`{"value": ${json},"more":${json}}`], table);
    const [row] = await queryParquet(bytes);

    expect(row?.['value']).toBe(last);
    expect(JSON.parse(String(row?.['_other'])).more).toEqual(JSON.parse(json));
    expect(row?.['_other']).not.toMatch(/1|x/);
  });

  test('has ? for a lone surrogate, and _other has the value byte for byte', async () => {
    const json = '{"\\ud83d":["\\ude00\\uD83D\\ud83d\\uDE00", "\\\\\\udc00\\n"]}';
    const { bytes } = writeLines([`{"value":${json}}`], table);

    expect(await queryParquet(bytes)).toEqual([
      { value: '{"?":["??\\ud83d\\uDE00", "\\\\?\\n"]}', _other: `{"value":${json}}` },
    ]);
  });

  test('has a string without quotes', async () => {
    const { bytes } = writeLines(['{"value":"a \\"text\\""}'], table);

    expect(await queryParquet(bytes)).toEqual([{ value: 'a "text"', _other: null }]);
  });

  test('has nothing for null', async () => {
    const { bytes } = writeLines(['{"value":null}'], table);

    expect(await queryParquet(bytes)).toEqual([{ value: null, _other: null }]);
  });
});
