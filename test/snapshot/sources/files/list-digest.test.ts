import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EMPTY_DIGEST, withTexts } from '../../../../lib/snapshot/sources/files/list-digest.ts';

test('a digest is the same for the same texts in any order and in any pages, and for no others', () => {
  const sets = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(sets, fc.nat(40), (texts, cut) => {
      const digest = withTexts(EMPTY_DIGEST, texts);

      expect(withTexts(withTexts(EMPTY_DIGEST, texts.slice(cut)), texts.slice(0, cut))).toBe(digest);
      expect(withTexts(EMPTY_DIGEST, texts.slice(1))).not.toBe(digest);
    }),
  );
});

test('it is 128 bits of the hash of each text', () => {
  const hashes = ['a', 'b'].map((text) => hash('sha256', text).slice(0, 32));
  const both = hashes.reduce((sum, each) => sum ^ BigInt(`0x${each}`), 0n);

  expect(withTexts(EMPTY_DIGEST, ['a'])).toBe(hashes[0]);
  expect(withTexts(EMPTY_DIGEST, ['a', 'b'])).toBe(both.toString(16).padStart(32, '0'));
});
