import fc from 'fast-check';

/**
 * One code point of any plane, except unpaired surrogates, often ASCII or of the basic plane. fast-check's own units
 * that cover all planes take a second to create in each process.
 */
export const anyCodePoint = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((code) => String.fromCodePoint(code));
