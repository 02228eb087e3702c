import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareIds, idDigits, idSchema } from '../../lib/platform/records.ts';

const integer = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });

describe('an id', () => {
  test('is read as its digits, whatever form it arrives in', () => {
    expect(idDigits(12)).toBe('12');
    expect(idDigits(9007199254740993n)).toBe('9007199254740993');
    expect(idDigits('9007199254740993')).toBe('9007199254740993');
    expect(idDigits('-7')).toBe('-7');
    expect(idDigits('007')).toBe('7');
    expect(idDigits('-0')).toBe('0');
  });

  test('is never a fraction, a rounded number, or a string of other characters', () => {
    for (const value of [1.5, 2 ** 53, Number.NaN, '1.0', '', ' 1', '1e3', '0x1', null, true, {}, [1]])
      expect(idDigits(value)).toBeUndefined();
  });

  test('has at most 64 digits, whatever form it arrives in', () => {
    const longest = '9'.repeat(64);

    expect([longest, `-${longest}`, BigInt(longest)].map(idDigits)).toEqual([
      longest,
      `-${longest}`,
      longest,
    ]);
    for (const value of [`${longest}9`, `-${longest}9`, BigInt(`${longest}9`)])
      expect(idDigits(value)).toBeUndefined();
  });

  test('of any size keeps its digits through the schema', () => {
    fc.assert(
      fc.property(integer, (value) => {
        expect(idSchema.parse(value)).toBe(String(value));
        expect(idSchema.parse(String(value))).toBe(String(value));
      }),
    );
  });

  test('is ordered as an integer of any size', () => {
    fc.assert(
      fc.property(integer, integer, (a, b) => {
        expect(Math.sign(compareIds(String(a), String(b)))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });
});
