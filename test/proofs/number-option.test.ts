import { expect, test } from 'vitest';
import { numberOption } from './number-option.ts';

test('a whole number is taken', () => {
  expect(['0', '245'].map((given) => numberOption('seeds', given))).toEqual([0, 245]);
});

test.each(['', 'x', '-1', '1.5', '1e3', ' 7', '1234567890'])(
  '%j is refused, and the option named',
  (given) => {
    expect(() => numberOption('seeds', given)).toThrow(`--seeds: expected a whole number, got "${given}"`);
  },
);
