import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLineFitter, type TableColumns } from '../../../lib/tables/parquet/fit-lines.ts';
import { scaled } from '../../scale.ts';
import { jsonOf } from '../../snapshot/page/json-of.ts';
import { oddLine, oddTable } from './odd-lines.ts';
import { fitSlowly } from './slow-fit.ts';

/** The row of a line that lies between two others, and how many of its members are in `_other`. */
function fitted(line: string, table: TableColumns = oddTable) {
  const fitter = createLineFitter(table);
  const before = '{"id":"before"}\n';
  const json = jsonOf(`${before}${line}\n{"id":"after"}\n`);
  const others = fitter.add(json, before.length, before.length + Buffer.byteLength(line));
  const row = Object.fromEntries(fitter.columns.map(({ name, values }) => [name, plain(values[0])]));
  return { row, others };
}

const plain = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value);

const columnOf = (line: string, name: keyof typeof oddTable) => fitted(line).row[name.toLowerCase()];

describe('a line', () => {
  test('is fitted as the slow, obvious way fits it, whatever is in it', () => {
    fc.assert(
      fc.property(oddLine, (line) => {
        expect(fitted(line)).toEqual(fitSlowly(line, oddTable));
      }),
      { numRuns: scaled(400, 10_000) },
    );
  });

  test('after others has the same row', () => {
    fc.assert(
      fc.property(fc.array(oddLine, { minLength: 1, maxLength: 8 }), (lines) => {
        const fitter = createLineFitter(oddTable);
        const others = lines.map((line) => fitter.add(jsonOf(line), 0, Buffer.byteLength(line)));
        const expected = lines.map((line) => fitSlowly(line, oddTable));

        expect(others).toEqual(expected.map((each) => each.others));
        for (const { name, values } of fitter.columns)
          expect(values).toEqual(expected.map(({ row }) => (row as Record<string, unknown>)[name]));
      }),
      { numRuns: scaled(100, 2_000) },
    );
  });

  test('keeps an id of 30 digits', () => {
    expect(columnOf('{"id":123456789012345678901234567890}', 'id')).toBe('123456789012345678901234567890');
  });

  test.each([
    ['1.0', 1n],
    ['1e3', 1_000n],
    ['-0', 0n],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
  ])('has %s in a column of integers, and nothing in _other', (source, value) => {
    expect(fitted(`{"count":${source}}`)).toMatchObject({ row: { count: value, _other: null }, others: 0 });
  });

  test.each(['1.5', '9223372036854775808', '1e400', '"1"', 'true', '[1]'])(
    'has %s in _other rather than in a column of integers',
    (source) => {
      expect(fitted(`{"count" : ${source} }`)).toMatchObject({
        row: { count: null, _other: `{"count" : ${source}}` },
        others: 1,
      });
    },
  );

  test('loses only the place that does not fit, and has the whole member in _other', () => {
    expect(fitted('{"owners":[{"id":"a","Since":"x"},7,{"id":"b","more":1}]}').row).toMatchObject({
      owners: [{ id: 'a', since: null }, null, { id: 'b', since: null }],
      _other: '{"owners":[{"id":"a","Since":"x"},7,{"id":"b","more":1}]}',
    });
  });

  test('has every member of the same name in _other, and the last one in the column', () => {
    expect(fitted('{"id":"a","count":1,"id":"b"}')).toMatchObject({
      row: { id: 'b', count: 1n, _other: '{"id":"a","id":"b"}' },
      others: 2,
    });
  });

  test('has a surrogate without its other half in _other', () => {
    expect(fitted('{"id":"\\ud800","tags":["\\udc00","b"]}').row).toMatchObject({
      id: null,
      tags: [null, 'b'],
      _other: '{"id":"\\ud800","tags":["\\udc00","b"]}',
    });
  });

  test('that is nested deeper than any parser goes is in _other', () => {
    const deep = `{"id":${'['.repeat(100_000)}1${']'.repeat(100_000)}}`;

    expect(columnOf(deep, '_other')).toBe(deep);
  });

  test('that is no object is in _other as a whole', () => {
    expect(fitted(' [1, 2] ')).toMatchObject({ row: { id: null, _other: '[1, 2]' }, others: 1 });
  });

  test('has a long text with and without escapes', () => {
    const text = 'ä'.repeat(100_000);

    expect(columnOf(JSON.stringify({ id: text }), 'id')).toBe(text);
    expect(columnOf(JSON.stringify({ id: `${text}\n` }), 'id')).toBe(`${text}\n`);
  });

  test.each(['{"id":1', '{"id":1}}', '{"id" 1}', '{"id":1}{"id":2}', 'id', '{"id":01}'])(
    'that is not JSON is an error: %s',
    (line) => {
      expect(() => fitted(line)).toThrow(SyntaxError);
    },
  );
});

describe('the moment of epoch milliseconds', () => {
  test.each([
    ['253402300799999', 253_402_300_799_999n],
    ['253402300800000', null],
    ['-62135596800000', -62_135_596_800_000n],
    ['-62135596800001', null],
  ])('of %s is %s', (source, moment) => {
    expect(columnOf(`{"count":${source}}`, 'count_at')).toBe(moment);
  });
});

describe('columns', () => {
  test('need one for what does not fit', () => {
    expect(() => createLineFitter({ id: 'string' })).toThrow('expected a column _other of type string');
  });

  test('have a moment only of integers', () => {
    expect(() => createLineFitter({ id: 'string', id_at: 'timestamp', _other: 'string' })).toThrow(
      'id_at: expected a column id of type bigint',
    );
  });

  test('have only types that are known', () => {
    expect(() => createLineFitter({ id: 'array<int>', _other: 'string' })).toThrow(TypeError);
    expect(() => createLineFitter({ id: 'map<bigint,string>', _other: 'string' })).toThrow(TypeError);
  });
});

describe('a column of JSON', () => {
  test.each([
    '{"a": [1.0,  1e3], "b":"\\ud800"}',
    '"text"',
    '12345678901234567890123',
    'false',
    `"${'x'.repeat(70_000)}"`,
  ])('has a value byte for byte', (json) => {
    const table = { value: 'json', _other: 'string' };

    expect(fitted(`{"value": ${json} }`, table)).toEqual({ row: { value: json, _other: null }, others: 0 });
  });

  test('has nothing for null', () => {
    expect(fitted('{"value":null}', { value: 'json', _other: 'string' }).row).toEqual({
      value: null,
      _other: null,
    });
  });
});

test('a member that is known has no column, and another value of it is in _other', () => {
  const fitter = createLineFitter({ id: 'string', _other: 'string' }, { version: '1', type: '"score"' });
  const lines = [
    '{"version":1,"id":"a","type":"score"}',
    '{"version":2,"id":"b"}',
    '{"id":"c","type":"score","type":"score"}',
  ];

  const others = lines.map((line) => fitter.add(jsonOf(line), 0, Buffer.byteLength(line)));

  expect(others).toEqual([0, 1, 2]);
  expect(fitter.columns.map(({ name, values }) => [name, values])).toEqual([
    ['id', ['a', 'b', 'c']],
    ['_other', [null, '{"version":2}', '{"type":"score","type":"score"}']],
  ]);
});
