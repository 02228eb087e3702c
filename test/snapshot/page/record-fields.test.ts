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

/** The names of the members that start with these words, each after the one before, as the fields know them. */
function namesAt(text: string, starts: readonly string[]) {
  const fields = createRecordFields(jsonOf(text));
  let field = BEFORE_FIRST;
  let from = 0;
  return starts.map((start) => {
    from = text.indexOf(start, from);
    field = fieldAt(fields, field, from);
    from += 1;
    const name = [...fields.byName].find(([, each]) => each === field)?.[0];
    return [name, fields.lengths[field]];
  });
}

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

  test('has the length of its name, its colon and the space around it', () => {
    expect(namesAt('{"a":1,"b" : 2,"":3', ['"a', '"b', '"":'])).toEqual([
      ['a', 4],
      ['b', 6],
      ['', 3],
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

  test.each([
    ['"a":', 1, true],
    ['"ab":', 1, true],
    ['"abcdefgh" : ', 1, true],
    ['"abcdefghijklm":', 1, true],
    ['"":', 1, false],
  ])('whose bytes %s come again after the same field is not decoded again: %#', (name, value, isKnown) => {
    const text = `{${name}${value},${name}`;
    const fields = createRecordFields(jsonOf(text));
    const second = text.lastIndexOf(name);

    const found = [1, second].map((at) => fieldAt(fields, BEFORE_FIRST, at));

    expect(found).toEqual([1, 1]);
    expect(fields.starts[1]).toBe(isKnown ? 1 : second);
  });

  test('that was only looked for has no type', () => {
    const fields = createRecordFields(jsonOf('{"a":1'));
    fieldNamed(fields, 'b');

    addType(fields, fieldAt(fields, BEFORE_FIRST, 1), 5);

    expect(typesSeen(fields)).toEqual({ a: ['number'] });
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
