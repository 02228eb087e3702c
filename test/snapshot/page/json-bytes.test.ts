import { describe, expect, test } from 'vitest';
import { MAX_DEPTH } from '../../../lib/base/json/json.ts';
import { isFilledText, skipDeepValue, skipSpace, skipValue } from '../../../lib/base/json/json-bytes.ts';
import { jsonOf } from './json-of.ts';

describe('the end of a deeply nested value', () => {
  const restAfter = (value: string) => {
    const text = ` ${value},]}`;
    return text.slice(skipDeepValue(jsonOf(text), 1, 0));
  };

  test.each([
    ['[]'],
    ['{}'],
    ['[[],{"a":[1]},[]]'],
    ['{"a":{"]":"}"},"b\\"":"["}'],
    ['["\\\\",[]]'],
    ['"a]b"'],
    ['-1.5e3'],
    ['null'],
    [`${'[{"a":'.repeat(MAX_DEPTH)}1${'}]'.repeat(MAX_DEPTH)}`],
  ])('is found in %s', (value) => {
    expect(restAfter(value)).toBe(',]}');
  });

  test.each([['[[]'], ['{"a":[}'], ['[']])('is missing in %s', (text) => {
    const message = `invalid JSON: it is incomplete and ends at byte ${text.length}`;

    expect(() => skipDeepValue(jsonOf(text), 0, 0)).toThrow(new SyntaxError(message));
  });

  test('is found only if a scalar is valid', () => {
    expect(() => skipDeepValue(jsonOf('tru'), 0, 0)).toThrow(SyntaxError);
    expect(() => skipDeepValue(jsonOf('"a'), 0, 0)).toThrow(SyntaxError);
  });
});

test.each([
  ['[', ']'],
  ['{"a":', '}'],
])('a value of %s may be nested 512 levels deep, including those around it', (open, close) => {
  const nested = (levels: number) => jsonOf(`${open.repeat(levels)}1${close.repeat(levels)}`);

  expect(skipValue(nested(510), 0, 2)).toBe(nested(510).bytes.length);
  expect(() => skipValue(nested(511), 0, 2)).toThrow(
    `expected at most 512 levels of nested arrays and objects, got more at byte ${510 * open.length}`,
  );
});

test('the byte that is wrong is named, with two digits', () => {
  expect(() => skipValue(jsonOf('[1,\u0001]'), 0, 0)).toThrow('invalid JSON: unexpected 0x01 at byte 3');
  expect(() => skipValue(jsonOf('"a\n"'), 0, 0)).toThrow('invalid JSON: unexpected 0x0a at byte 2');
  expect(() => skipValue(jsonOf('"a\\u00x9"'), 0, 0)).toThrow('unexpected 0x78 at byte 6');
  expect(() => skipValue(jsonOf('"a\\x"'), 0, 0)).toThrow('unexpected 0x78 at byte 3');
  expect(() => skipValue(jsonOf('[falze]'), 0, 0)).toThrow('unexpected 0x7a at byte 4');
  expect(() => skipValue(jsonOf('[ falze]'), 0, 0)).toThrow('unexpected 0x7a at byte 5');
  expect(() => skipValue(jsonOf('"\\u00`0"'), 0, 0)).toThrow('unexpected 0x60 at byte 5');
  expect(() => skipValue(jsonOf('"\\u00g0"'), 0, 0)).toThrow('unexpected 0x67 at byte 5');
  expect(() => skipValue(jsonOf('"\u001f'), 0, 0)).toThrow('unexpected 0x1f at byte 1');
  expect(() => skipValue(jsonOf('[-x]'), 0, 0)).toThrow('unexpected 0x78 at byte 2');
  expect(() => skipValue(jsonOf('[1.x]'), 0, 0)).toThrow('unexpected 0x78 at byte 3');
  expect(() => skipValue(jsonOf('[1e+x]'), 0, 0)).toThrow('unexpected 0x78 at byte 4');
  expect(() => skipValue(jsonOf('{"a" 1}'), 0, 0)).toThrow('unexpected 0x31 at byte 5');
  expect(() => skipValue(jsonOf('{"a":1 1}'), 0, 0)).toThrow('unexpected 0x31 at byte 7');
});

test.each(['""', '"a"', '" "', '"ab"', '"a\\n"', '"\\u00aA"', '"\\u0fF9"', '"é"', '"abcd"', '"abcde"'])(
  'the string %s may end with the last byte',
  (text) => {
    expect(skipValue(jsonOf(text), 0, 0)).toBe(Buffer.byteLength(text));
  },
);

test('a string counts as non-empty if it has a character', () => {
  expect(['"a"', '"\\u0000"', '""', '1', '[""]'].map((text) => isFilledText(jsonOf(text), 0))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('white space is skipped up to the first other byte, or to the end', () => {
  const ends = [' \t\r\n1', '1', '', '  ', '\u000b', '\u0000'].map((text) =>
    skipSpace(jsonOf(text).bytes, 0),
  );

  expect(ends).toEqual([4, 0, 0, 2, 0, 0]);
});
