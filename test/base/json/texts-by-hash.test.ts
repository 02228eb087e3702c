import { describe, expect, test } from 'vitest';
import { createNumbersByText, createSeenTexts } from '../../../lib/base/json/texts-by-hash.ts';

const texts = Array.from({ length: 20_000 }, (_, index) => `fileset/${index}`);

// The hashes of the first two texts share their first 32 bits; those of the others share bits 32 to 63 and the first
// slot.
const colliding = ['key 5979', 'key 77859', 'key 1206591', 'key 1861346'];

describe('a string', () => {
  test('counts as new only the first time, even after the table has grown many times', () => {
    const seen = createSeenTexts();

    expect(texts.every((text) => seen.add(text))).toBe(true);
    expect(texts.some((text) => seen.add(text))).toBe(false);
    expect(seen.size()).toBe(20_000);
  });

  test('is recognized by all 64 bits of its hash', () => {
    const seen = createSeenTexts();

    expect(colliding.map((text) => seen.add(text))).toEqual([true, true, true, true]);
    expect(colliding.map((text) => seen.add(text))).toEqual([false, false, false, false]);
  });
});

describe('the number of a string', () => {
  test('is the one that was set last, even after the table has grown many times', () => {
    const numbers = createNumbersByText();
    for (const [at, text] of texts.entries()) numbers.set(text, at + 1);
    numbers.set('fileset/7', 2 ** 32 - 1);

    expect(numbers.get('fileset/7')).toBe(2 ** 32 - 1);
    expect(texts.filter((text, at) => numbers.get(text) !== at + 1)).toEqual(['fileset/7']);
    expect([numbers.get('fileset'), numbers.count()]).toEqual([undefined, 20_000]);
  });

  test('is not confused with the number of another string if both contain lone surrogates', () => {
    const numbers = createNumbersByText();

    numbers.set('\ud83d', 1);

    expect([numbers.get('\ud83d'), numbers.get('\ud83c'), numbers.get('\ufffd')]).toEqual([
      1,
      undefined,
      undefined,
    ]);
  });
});
