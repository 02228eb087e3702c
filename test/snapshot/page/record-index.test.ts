import { describe, expect, test } from 'vitest';
import {
  allDigits,
  compareKeys,
  createRecordIndex,
  digitsAt,
  freeIndex,
  indexBytes,
  rowsBetween,
} from '../../../lib/snapshot/page/record-index.ts';

const lengthsOf = ({ starts, ends, values, numbers }: ReturnType<typeof createRecordIndex>) =>
  [starts, ends, ...values, numbers].map(({ length }) => length);

describe('an index', () => {
  test('counts its bytes: 4 for each position, 8 for an integer key, and 100 for a long one', () => {
    const long = createRecordIndex(2, 'integer');
    long.digits.set(0, '12345678901234567890');
    long.digits.set(1, '12345678901234567891');

    expect(indexBytes(createRecordIndex(2, 'text'))).toBe(16 * 16);
    expect(indexBytes(createRecordIndex(2, 'integer'))).toBe(16 * 24);
    expect(indexBytes(long)).toBe(16 * 24 + 200);
  });

  test.each(['integer', 'text'] as const)('has no rows once it is freed, if its keys are %s', (keyIs) => {
    const index = createRecordIndex(1, keyIs);
    index.digits.set(0, '12345678901234567890');

    freeIndex(index);

    expect(new Set(lengthsOf(index))).toEqual(new Set([0]));
    expect(index.digits.size).toBe(0);
  });
});

describe('the keys', () => {
  const LONG = '12345678901234567890';
  const index = createRecordIndex(0, 'integer');
  index.numbers.set([5, Number.NaN, 40, Number.NaN]);
  index.digits.set(1, LONG);
  index.digits.set(3, `-${LONG}`);

  test('are numbers, or digits if a number cannot hold them', () => {
    expect(allDigits(index, 4)).toEqual(['5', LONG, '40', `-${LONG}`]);
    expect(allDigits(index, 2)).toEqual(['5', LONG]);
    expect(digitsAt(createRecordIndex(0, 'text'), 0)).toBe('');
  });

  test('are compared as integers', () => {
    const compared = [0, 1, 2, 3].map((a) => [0, 1, 2, 3].map((b) => Math.sign(compareKeys(index, a, b))));

    expect(compared).toEqual([
      [0, -1, -1, 1],
      [1, 0, 1, 1],
      [1, -1, 0, 1],
      [-1, -1, -1, 0],
    ]);
  });
});

test('the rows between two rows include the first one, but not the last', () => {
  expect([...rowsBetween(3, 6)]).toEqual([3, 4, 5]);
  expect([...rowsBetween(3, 3)]).toEqual([]);
});
