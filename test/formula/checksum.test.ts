import { expect, test } from 'vitest';
import { checkSum } from '../../lib/formula/analyze.ts';

test.each([
  ['abc', 'a9993e364706816aba3e25717850c26c9cd0d89d'],
  ['', 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
  ["'€'", '4e136ddd902de620f3077c92de2219fb7d37eed9'],
])('the checksum of %j is the SHA-1 of its UTF-8 bytes', (expression, expected) => {
  const sum = checkSum(expression);

  expect(sum).toBe(expected);
});
