import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idOfSegment, keySegment } from '../../lib/store/key.ts';

const CHARACTERS = [...'ABYZabyz019._:-'];
const id = fc.oneof(
  fc.string({ unit: fc.constantFrom(...CHARACTERS), minLength: 1, maxLength: 128 }),
  fc.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/),
  fc.constantFrom('con', 'NUL', 'com1.x', 'aux.', '.con', 'AAAA0', 'AAAA0.', 'con.AAAA0'),
);

describe('an id in a key', () => {
  it('is read back from its segment', () => {
    fc.assert(
      fc.property(id, (each) => {
        expect(idOfSegment(keySegment(each))).toBe(each);
      }),
    );
  });

  it('differs from every other id in a key, even if case is ignored', () => {
    const like = id.chain((each) =>
      fc.tuple(fc.constant(each), fc.constantFrom(each.toUpperCase(), each.toLowerCase(), `${each}.`)),
    );

    fc.assert(
      fc.property(fc.oneof(like, fc.tuple(id, id)), ([a, b]) => {
        fc.pre(a !== b);

        expect(keySegment(a).toLowerCase()).not.toBe(keySegment(b).toLowerCase());
      }),
    );
  });

  it('has only characters that are safe in S3, URLs and file names, and is no longer than a file name', () => {
    fc.assert(
      fc.property(id, (each) => {
        const segment = keySegment(each);

        expect(segment).toMatch(/^[a-z0-9!-](?:[a-z0-9!._-]*[a-z0-9!_-])?$/);
        expect(segment).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/);
        expect(segment.length).toBeLessThanOrEqual(240);
      }),
    );
  });

  it.each([
    ['order-17', 'order-17'],
    ['may.chunk-00003', 'may.chunk-00003'],
    ['3f2c_8e', '3f2c_8e'],
    ['Order-17', '!order-17'],
    ['sha256:ab', 'sha256!-ab'],
    ['ORDER-2026-17-B', '!!order-2026-17-b!'],
    ['ORDER-0', '!!order!-0'],
    ['ORDER0', '!!order!0'],
    ['01ARZ3NDEKTSV4', '01!!arz3ndektsv!4'],
    ['urn:ABC:1', 'urn!!_abc_!1'],
    ['.', '!.!0'],
    ['..', '!..!0'],
    ['_hidden', '!_hidden'],
    ['.hidden.', '!.hidden.!0'],
    ['nul.chunk-1', '!0nul.chunk-1'],
  ])('is written for %s as %s', (given, segment) => {
    expect(keySegment(given)).toBe(segment);
    expect(idOfSegment(segment)).toBe(given);
  });

  it.each(['!A', 'a!', '!!ab!', '!a!b!c!d', '!0other', 'other!0', 'a!_b', '!', 'Order-17', '_cache', 'nul'])(
    'is never written as %s, so reading that is refused',
    (segment) => {
      expect(idOfSegment(segment)).toBeUndefined();
    },
  );
});
