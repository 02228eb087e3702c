import { describe, expect, test } from 'vitest';
import { countNames, createFieldTypes } from '../../../lib/snapshot/page/field-types.ts';

const names = (count: number, from = 0) => Array.from({ length: count }, (_, at) => `name-${from + at}`);

describe('names of fields', () => {
  test('may be 10,000, over all that were counted; one more is refused', () => {
    const count = countNames('a page');

    count(names(6_000));
    count(names(4_000, 6_000));

    expect(() => count(['one more'])).toThrow(
      'expected records with at most 10000 different field names in a page, got more',
    );
  });

  test('may have 1,000,000 characters in all; one more is refused', () => {
    const count = countNames('a page');

    count(['a'.repeat(400_000), 'b'.repeat(200_000)]);
    count(['c'.repeat(400_000)]);

    expect(() => count(['d'])).toThrow(
      'expected field names of at most 1000000 characters in all in a page, got more',
    );
  });

  test('that are refused do not count', () => {
    const count = countNames('a page');

    expect(() => count(names(10_001))).toThrow('10000 different field names');
    expect(() => count(['a'.repeat(1_000_001)])).toThrow('1000000 characters');

    expect(() => count(names(10_000))).not.toThrow();
  });
});

describe('the types of fields', () => {
  test('are all that were ever seen, sorted by name and type', () => {
    const types = createFieldTypes({ b: ['string'] });

    types.merge({ c: ['object'], b: ['number', 'null'] });
    types.merge({ a: ['array'], b: ['string'] });

    expect(Object.entries(types.seen())).toEqual([
      ['a', ['array']],
      ['b', ['null', 'number', 'string']],
      ['c', ['object']],
    ]);
  });

  test('a name that was seen before does not count again', () => {
    const all = Object.fromEntries(names(10_000).map((name) => [name, ['number' as const]]));
    const types = createFieldTypes(all);

    types.merge({ 'name-0': ['string'] });

    expect(types.seen()['name-0']).toEqual(['number', 'string']);
    expect(() => types.merge({ 'one more': ['string'] })).toThrow('in a run');
    expect(types.seen()).not.toHaveProperty('one more');
  });
});
