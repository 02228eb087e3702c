import { describe, expect, test } from 'vitest';
import { isStringAt, scalarAt } from '../../../lib/snapshot/page/value-at.ts';
import { jsonOf } from './json-of.ts';

/** The scalar at byte 1. Position 0 means that there is no value, so a space comes first. */
const scalarIn = (text: string) => scalarAt(jsonOf(` ${text},`), 1);

describe('a scalar', () => {
  test.each([
    ['"a\\u00e9"', 'aé'],
    ['-1.5', -1.5],
    ['12345678901234567890', 12345678901234567890n],
    ['true', true],
    ['null', null],
    ['[1,{"a":2}]', [1, { a: 2 }]],
  ])('is parsed: %s', (text, value) => {
    expect(scalarIn(text)).toEqual(value);
  });

  test('is undefined at position 0', () => {
    expect(scalarAt(jsonOf('"a"'), 0)).toBeUndefined();
  });

  test('of 4,096 bytes is parsed', () => {
    expect(scalarIn(`"${'a'.repeat(4_094)}"`)).toBe('a'.repeat(4_094));
  });

  test.each([
    ['a text', `"${'a'.repeat(4_095)}"`, ''],
    ['a number', '1'.repeat(4_097), Number.NaN],
    ['an array', `["${'a'.repeat(4_093)}"]`, {}],
    ['an object', `{"":"${'a'.repeat(4_090)}"}`, {}],
  ])('of 4,097 bytes only has the right type: %s', (_, text, value) => {
    expect(scalarIn(text)).toEqual(value);
  });
});

describe('comparing a string with the expected one', () => {
  const isIt = (text: string, value: string) => isStringAt(jsonOf(` ${text}`), 1, value);

  test.each([
    ['"é1"', 'é1', true],
    ['"é2"', 'é1', false],
    ['"1"', 'é1', false],
    ['"\\u00e9\\u0031"', 'é1', true],
    ['"\\u00e9\\u0032"', 'é1', false],
    ['"\\u00e9\\u0031\\u0031"', 'é1', false],
    ['"a"', 'b"', false],
    ['"a/b"', 'a/b', true],
    ['"a\\/b"', 'a/b', true],
    ['1', '1', false],
    ['null', 'null', false],
  ])('%s is %s: %s', (text, value, is) => {
    expect(isIt(text, value)).toBe(is);
  });

  test('is false at position 0', () => {
    expect(isStringAt(jsonOf('"a"'), 0, 'a')).toBe(false);
  });
});
