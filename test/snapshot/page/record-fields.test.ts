import { describe, expect, test } from 'vitest';
import {
  addType,
  createRecordFields,
  fieldAt,
  fieldNamed,
  typesSeen,
} from '../../../lib/snapshot/page/record-fields.ts';
import { jsonOf } from './json-of.ts';

describe('a field', () => {
  test('is recognized by its bytes, and by its name', () => {
    const fields = createRecordFields(jsonOf('{"ab":1,"ab":2,"\\u0061b" : 3,"a":4'));

    const found = [1, 8, 15, 29].map((at) => fieldAt(fields, fields.beforeFirst, at).number);

    expect(found).toEqual([0, 0, 0, 1]);
    expect(fieldNamed(fields, 'ab').number).toBe(0);
    expect([...fields.byName.keys()]).toEqual(['ab', 'a']);
  });

  test.each(['"a":', '"abc":', '"abcd" : ', '"abcde":', '"é\\"":'])(
    'is not decoded again if %s is repeated',
    (name) => {
      const fields = createRecordFields(jsonOf(`{${name}1,${name}2`));
      const again = 3 + Buffer.byteLength(name);

      const found = [1, again].map((at) => fieldAt(fields, fields.beforeFirst, at).start);

      expect(found).toEqual([1, 1]);
    },
  );

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
    ['is not empty', '{"":1,"a":2', ['""', '"a"'], ['', 'a']],
  ])('is not confused with the expected one if it %s', (_, text, starts, expected) => {
    const fields = createRecordFields(jsonOf(text));
    const at = starts.map((start) => text.indexOf(start));

    // Each name is looked for at the place where the first is expected.
    const found = at.map((each) => fieldAt(fields, fields.beforeFirst, each).number);

    expect(found).toEqual([0, 1]);
    expect([...fields.byName.keys()]).toEqual(expected);
  });
});

test('too many names in a response are refused', () => {
  const fields = createRecordFields(jsonOf(''));
  for (let at = 0; at < 10_000; at += 1) fieldNamed(fields, `name-${at}`);

  expect(fieldNamed(fields, 'name-0').number).toBe(0);
  expect(() => fieldNamed(fields, 'one more')).toThrow(
    'expected records with at most 10000 different field names in a response, got more',
  );
});

test('names with too many characters together are refused', () => {
  const fields = createRecordFields(jsonOf(''));
  fieldNamed(fields, 'x'.repeat(1_000_000));

  expect(() => fieldNamed(fields, 'y')).toThrow(
    'expected field names in a response to have at most 1000000 characters in total, got more',
  );
});

test('the types of a field are all that its values had', () => {
  const text = ' "a"1true false{}[]null-1';
  const json = jsonOf(text);
  const fields = createRecordFields(json);
  const field = fieldNamed(fields, 'a');
  const seen: unknown[] = [];

  for (const at of [1, 4, 5, 10, 15, 17, 19, 23]) {
    addType(json, field, at);
    seen.push(typesSeen(fields)['a']?.length);
  }

  expect(seen).toEqual([1, 2, 3, 3, 4, 5, 6, 6]);
  expect(typesSeen(fields)).toEqual({ a: ['string', 'number', 'boolean', 'object', 'array', 'null'] });
});
