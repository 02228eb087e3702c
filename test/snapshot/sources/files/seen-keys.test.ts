import { expect, test } from 'vitest';
import { createSeenKeys } from '../../../../lib/snapshot/sources/files/seen-keys.ts';

test('a key is new exactly once, also after the table has grown many times', () => {
  const seen = createSeenKeys();
  const keys = Array.from({ length: 20_000 }, (_, index) => `fileset/${index}`);

  expect(keys.every((key) => seen.add(key))).toBe(true);
  expect(keys.some((key) => seen.add(key))).toBe(false);
  expect(seen.size()).toBe(20_000);
});

test('a key is compared by all of its 64 bits, and by no fewer', () => {
  // SHA-256 of the first two begins with the same 32 bits; of the others, bits 32 to 63 and the first slot are the same.
  const keys = ['key 5979', 'key 77859', 'key 1206591', 'key 1861346'];
  const seen = createSeenKeys();

  expect(keys.map((key) => seen.add(key))).toEqual([true, true, true, true]);
  expect(keys.map((key) => seen.add(key))).toEqual([false, false, false, false]);
});
