import { hash } from 'node:crypto';
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

test('a key is compared by all of its 64 bits, and by no fewer', () => {
  // SHA-256 of the first two begins with the same 32 bits; of the others, bits 32 to 63 and the first slot are the same.
  const keys = ['key 5979', 'key 77859', 'key 1206591', 'key 1861346'];
  const seen = createSeenKeys();

  expect(keys.map((key) => seen.add(key))).toEqual([true, true, true, true]);
  expect(keys.map((key) => seen.add(key))).toEqual([false, false, false, false]);
});

test('the digest is 128 bits of the hash of each key, as it is stored between reads', () => {
  const hashes = ['a', 'b'].map((key) => hash('sha256', key).slice(16, 48));
  const both = hashes.reduce((sum, each) => sum ^ BigInt(`0x${each}`), 0n);

  expect(seenOf(['a']).digest()).toBe(hashes[0]);
  expect(seenOf(['a', 'b']).digest()).toBe(both.toString(16).padStart(32, '0'));
});
