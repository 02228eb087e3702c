import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasSeen, noCursors, withCursor } from '../../../../lib/snapshot/sources/files/seen-cursors.ts';

/** How many cursors of a list are followed until one is known; the end of the list leads back to `start`. */
function followed(start: number, length: number): number {
  let seen = noCursors;
  let at = 0;
  while (!hasSeen(seen, `cursor ${at}`)) {
    seen = withCursor(seen, `cursor ${at}`);
    at = at === start + length - 1 ? start : at + 1;
  }
  return seen.count;
}

test('a loop of up to 500 cursors is detected at once', () => {
  fc.assert(
    fc.property(fc.nat(300), fc.integer({ min: 1, max: 500 }), (start, length) => {
      expect(followed(start, length)).toBe(start + length);
    }),
    { numRuns: 30 },
  );
});

test('a longer loop is detected too, within three times its length', () => {
  expect(followed(100, 1_900)).toBeLessThanOrEqual(3 * 2_000);
  expect(followed(0, 501)).toBeLessThanOrEqual(3 * 501);
});

test('what is remembered is bounded, however long the list', () => {
  const seen = Array.from({ length: 3_000 }, (_, at) => `cursor ${at}`).reduce(withCursor, noCursors);

  expect(seen.count).toBe(3_000);
  expect(JSON.stringify(seen).length).toBeLessThan(8_000);
});
