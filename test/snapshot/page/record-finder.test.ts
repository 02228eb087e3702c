import { describe, expect, test } from 'vitest';
import { findRecords, refuseKeyless, type WantedFields } from '../../../lib/snapshot/page/record-finder.ts';
import { allDigits } from '../../../lib/snapshot/page/record-index.ts';
import { jsonOf } from './json-of.ts';

const byInteger: WantedFields = { key: 'id', keyIs: 'integer' };
const byText: WantedFields = { key: 'id', keyIs: 'text' };

/** Finds the records of a list that starts at byte 1. */
const find = (list: string, wanted: WantedFields) => findRecords(jsonOf(` ${list} `), 1, 0, wanted);

/** The keys of records with these values of `id`; values that are no key are left out. */
function keysOf(...values: readonly string[]) {
  const { index, records } = find(`[${values.map((value) => `{"id":${value}}`)}]`, byInteger);
  return allDigits(index, records);
}

describe('an integer key', () => {
  test.each([
    ['-1234567890123456', '-1234567890123456'],
    ['"-1234567890123456"', '-1234567890123456'],
    ['9'.repeat(64), '9'.repeat(64)],
    [`-${'9'.repeat(64)}`, `-${'9'.repeat(64)}`],
    [`"-${'9'.repeat(64)}"`, `-${'9'.repeat(64)}`],
  ])('%s has the digits %s', (value, digits) => {
    expect(keysOf(value)).toEqual([digits]);
  });

  test.each([
    '9'.repeat(65),
    `-${'9'.repeat(65)}`,
    `"${'9'.repeat(65)}"`,
    '9'.repeat(66),
    '9'.repeat(67),
    '9'.repeat(68),
    '"1/"',
    '"1:"',
    `1.${'0'.repeat(66)}`,
  ])('cannot be %s', (value) => {
    expect(keysOf('1', value, '2')).toEqual(['1', '2']);
  });

  test.each(['-1', '"1"', '1e2', '123456789012345', '"123456789012345"'])(
    '(%s) of at most 15 digits takes no additional memory',
    (value) => {
      expect(find(`[{"id":${value}}]`, byInteger).index.digits.size).toBe(0);
    },
  );
});

test('a key that is a string must not be empty', () => {
  expect(find('[{"id":"a"},{"id":"\\u0000"}]', byText).records).toBe(2);
  for (const element of ['{"id":""}', '{"id":7}', '{}', '7', 'null'])
    expect(find(`[{"id":"a"},${element},{"id":"b"}]`, byText)).toMatchObject({ records: 2, keyless: [''] });
});

test('an element without any field of a key is left out, even if the response is a short one', () => {
  expect(find('[{"id":1},{},{"id":3}]', byInteger)).toMatchObject({ records: 2, keyless: [''] });
});

test('an element without a key is left out, and does not affect the next one', () => {
  const wanted = { ...byInteger, label: 'name', others: ['created'] };

  const found = find('[{"id":1},{"name":"x","id":"1/","created":5},{"id":3}]', wanted);

  expect(found).toMatchObject({ records: 2, keyless: ['x'] });
  expect(allDigits(found.index, 2)).toEqual(['1', '3']);
  expect(found.index.values[1]?.[1]).toBe(0);
});

test('a list without any key is refused', () => {
  const refuse = (list: string) => () => refuseKeyless(find(list, byText), 'file');

  expect(refuse('[{"id":"a"},{},7]')).not.toThrow();
  expect(refuse('[]')).not.toThrow();
  for (const list of ['[{}]', '[{},{}]', '[7]'])
    expect(refuse(list)).toThrow('file 0: expected an object with a string as its id');
});

test.each([
  ['"x"', 'file 0 (“x”)'],
  ['""', 'file 0'],
  [`"${'x'.repeat(201)}"`, `file 0 (“${'x'.repeat(200)}”)`],
])('elements without a key, the first with the name %s, are called %s in the message', (name, named) => {
  const found = find(`[{"a":${name}},{}]`, { ...byText, label: 'a' });

  expect(() => refuseKeyless(found, 'file')).toThrow(`${named}: expected an object with a string as its id`);
});

test('the position of a field is where its value starts, the last one if it is repeated, or 0 if it is missing', () => {
  expect(find('[{"id":1}]', byInteger).index.values).toHaveLength(1);

  const { index, end } = find('[{"a":1,"id":2},{ "id" : 3 , "a":4,"a" :5},{"id":6}]', {
    ...byInteger,
    others: ['a', 'b'],
  });
  const columns = index.values.map((column) => [...column.subarray(0, 3)]);

  expect(columns).toEqual([
    [14, 26, 50],
    [7, 41, 0],
    [0, 0, 0],
  ]);
  expect(end).toBe(53);
});
