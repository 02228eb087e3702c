import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  actualTypeOf,
  type DeclaredType,
  formatDeclaredType,
  listOf,
  matchesType,
  one,
  orNull,
} from '../../../../lib/sandbox/platform/functions/code-package.ts';

const accepted: Record<DeclaredType['type'], readonly unknown[]> = {
  text: ['', 'any'],
  number: [0, -7, Number.MAX_SAFE_INTEGER],
  decimal: [0, 1.5, -1e300],
  boolean: [true, false],
  date: ['2026-11-21', '2028-02-29', '0001-01-01'],
  dateTime: ['2026-11-21T09:15:00Z', '2026-11-21T09:15', '2026-11-21T09:15:00.123+05:30'],
  time: ['00:00', '23:59:59', '09:15:00.5'],
  duration: ['PT90M', 'P1DT2H', '-P3W', 'PT0.5S'],
  object: [{}, { any: [1] }],
};

const refused: Record<DeclaredType['type'], readonly unknown[]> = {
  text: [1, true, {}, ['any']],
  number: [1.5, '1', 2 ** 60, Number.NaN],
  decimal: ['1.5', Number.POSITIVE_INFINITY, true],
  boolean: ['true', 0],
  date: ['2026-02-29', '2026-13-01', '2026-1-1', '2026-11-21T00:00:00Z', 20_261_121, ' 2026-11-21'],
  dateTime: ['2026-11-21', '2026-02-30T09:15:00Z', '2026-11-21T24:00:00Z', '2026-11-21T09:15:00+99:00'],
  time: ['24:00', '9:15', '09:60', '09:15Z'],
  duration: ['P', 'PT', 'P1DT', '90', 'PT90X', 'P1.5D'],
  object: [[], 'any', 1],
};

const types = Object.keys(accepted) as readonly DeclaredType['type'][];

describe.each(types)('the type %s', (type) => {
  test('accepts its own values', () => {
    expect(accepted[type].filter((value) => !matchesType(value, one(type)))).toEqual([]);
  });

  test('refuses values of other types, and null', () => {
    expect([...refused[type], null].filter((value) => matchesType(value, one(type)))).toEqual([]);
  });

  test('as a list accepts a list of its values or an empty one, but no single value', () => {
    expect(matchesType(accepted[type], listOf(type))).toBe(true);
    expect(matchesType([], listOf(type))).toBe(true);
    expect(accepted[type].filter((value) => matchesType(value, listOf(type)))).toEqual([]);
  });

  test('as a list refuses a list with one wrong element or with a null', () => {
    expect(matchesType([...accepted[type], refused[type][0]], listOf(type))).toBe(false);
    expect(matchesType([...accepted[type], null], orNull(listOf(type)))).toBe(false);
  });

  test('as nullable accepts null, single or as a list', () => {
    expect(matchesType(null, orNull(one(type)))).toBe(true);
    expect(matchesType(null, orNull(listOf(type)))).toBe(true);
  });
});

test.each([
  [null, 'null', false],
  ['any', 'text', false],
  [7, 'number', false],
  [7.5, 'decimal', false],
  [false, 'boolean', false],
  [{ any: 1 }, 'object', false],
  [[], 'unknown', true],
  [['2026-11-21'], 'text', true],
  [[1, 2.5], 'decimal', true],
  [[1, 'one'], 'mixed', true],
  [[null, null], 'null', true],
  [[[1], [2]], 'list', true],
])('the value %j has the type %s, and is a list: %s', (value, type, isList) => {
  expect(actualTypeOf(value)).toEqual({ type, isList });
});

test('a declared type is formatted in words', () => {
  expect(formatDeclaredType(orNull(listOf('date')))).toBe('list of date (YYYY-MM-DD) or null');
  expect(formatDeclaredType(one('text'))).toBe('text');
});

test('a JSON value always matches its actual type', () => {
  const declarable = ['text', 'number', 'decimal', 'boolean', 'object'] as const;

  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const actual = actualTypeOf(value);
      const type = declarable.find((name) => name === actual.type);
      fc.pre(type !== undefined && value !== null);
      const declared: DeclaredType = { type: type ?? 'object', isList: actual.isList, nullable: false };
      expect(matchesType(value, declared)).toBe(true);
    }),
  );
});

test('every instant that JavaScript prints is a dateTime, and its day is a date', () => {
  const from = new Date('0001-01-01T00:00:00Z');
  const to = new Date('9999-12-31T23:59:59Z');

  fc.assert(
    fc.property(fc.date({ min: from, max: to, noInvalidDate: true }), (date) => {
      expect(matchesType(date.toISOString(), one('dateTime'))).toBe(true);
      expect(matchesType(date.toISOString().slice(0, 10), one('date'))).toBe(true);
    }),
  );
});
