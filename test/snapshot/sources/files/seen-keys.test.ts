import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSeenKeys } from '../../../../lib/snapshot/sources/files/seen-keys.ts';

function seenOf(keys: Iterable<string>) {
  const seen = createSeenKeys();
  for (const key of keys) seen.add(key);
  return seen;
}

test('a key is new exactly once, also after the table has grown many times', () => {
  const seen = createSeenKeys();
  const keys = Array.from({ length: 20_000 }, (_, index) => `fileset/${index}`);

  expect(keys.every((key) => seen.add(key))).toBe(true);
  expect(keys.some((key) => seen.add(key))).toBe(false);
  expect(seen.size()).toBe(20_000);
});

test('the digest is the same for the same keys in any order, and for no others', () => {
  const sets = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(sets, (keys) => {
      const digest = seenOf(keys).digest();

      expect(seenOf(keys.toReversed()).digest()).toBe(digest);
      expect(seenOf([...keys, ...keys]).digest()).toBe(digest);
      expect(seenOf(keys.slice(1)).digest()).not.toBe(digest);
    }),
  );
});
