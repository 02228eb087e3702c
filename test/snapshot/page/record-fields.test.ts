import { describe, expect, test } from 'vitest';
import {
  addType,
  BEFORE_FIRST,
  createRecordFields,
  fieldAt,
  fieldNamed,
  typesSeen,
} from '../../../lib/snapshot/page/record-fields.ts';
import { jsonOf } from './json-of.ts';

describe('a field', () => {
  test('is known again by its bytes, and by its name', () => {
    const fields = createRecordFields(jsonOf('{"ab":1,"ab":2,"\\u0061b" : 3,"a":4'));

    const found = [1, 8, 15].map((at) => fieldAt(fields, BEFORE_FIRST, at));

    expect(found).toEqual([1, 1, 1]);
    expect(fieldNamed(fields, 'ab')).toBe(1);
    expect(fieldAt(fields, BEFORE_FIRST, 29)).toBe(2);
    expect([...fields.byName]).toEqual([
      ['ab', 1],
      ['a', 2],
    ]);
  });

  test.each([
    ['differs in its last byte', '{"abcd":1,"abce":2', ['"abcd', '"abce'], ['abcd', 'abce']],
    ['differs in its first byte', '{"abcdefg":1,"xbcdefg":2', ['"abc', '"xbc'], ['abcdefg', 'xbcdefg']],
    [
      'differs in the middle',
      '{"abcdefghi":1,"abcdXfghi":2',
      ['"abcde', '"abcdX'],
      ['abcdefghi', 'abcdXfghi'],
    ],
    ['is longer', '{"abc":1,"abcd":2', ['"abc"', '"abcd'], ['abc', 'abcd']],
    ['is shorter', '{"abcd":1,"abc":2', ['"abcd', '"abc"'], ['abcd', 'abc']],
  ])('is not the expected one if it %s', (_, text, starts, expected) => {
    const fields = createRecordFields(jsonOf(text));
    const at = starts.map((start) => text.indexOf(start));

    // Each is looked for where the first one is expected.
    const found = at.map((each) => fieldAt(fields, BEFORE_FIRST, each));

    expect(found).toEqual([1, 2]);
    expect([...fields.byName.keys()]).toEqual(expected);
  });
});

test('names that are too many in a response are refused', () => {
  const fields = createRecordFields(jsonOf(''));
  for (let at = 0; at < 10_000; at += 1) fieldNamed(fields, `name-${at}`);

  expect(fieldNamed(fields, 'name-0')).toBe(1);
  expect(() => fieldNamed(fields, 'one more')).toThrow(
    'expected records with at most 10000 different field names in a response, got more',
  );
});

test('the types of a field are all that its values had', () => {
  const text = ' "a"1true false{}[]null-1';
  const fields = createRecordFields(jsonOf(text));
  const field = fieldNamed(fields, 'a');
  const seen: unknown[] = [];

  for (const at of [1, 4, 5, 10, 15, 17, 19, 23]) {
    addType(fields, field, at);
    seen.push(typesSeen(fields)['a']?.length);
  }

  expect(seen).toEqual([1, 2, 3, 3, 4, 5, 6, 6]);
  expect(typesSeen(fields)).toEqual({ a: ['string', 'number', 'boolean', 'object', 'array', 'null'] });
});
