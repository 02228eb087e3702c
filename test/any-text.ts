import fc from 'fast-check';

/**
 * One code point of any plane, except half a surrogate pair: often ASCII or of the basic plane. The units of fast-check
 * that cover all planes are slow to make: a second for each process that uses one.
 */
export const anyCodePoint = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((code) => String.fromCodePoint(code));
