import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonLimitError, parseJson, printJson } from '../../../lib/base/json/json.ts';
import { idDigits } from '../../../lib/platform/records.ts';
import { anyCodePoint } from '../../any-text.ts';

const hugeInteger = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
const beyondNumbers = hugeInteger.filter((value) => value > 2n ** 53n || value < -(2n ** 53n));

const { tree: anyJson } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    beyondNumbers,
    fc.integer(),
    fc.constantFrom(0.5, -1.25e-7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
    fc.string({ unit: anyCodePoint }),
    fc.constantFrom(null, true, false, '12345678901234567890', '"', '\\'),
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constant('9007199254740993')), tie('tree'), {
      maxKeys: 5,
      noNullPrototype: true,
    }),
  ),
}));

describe('JSON', () => {
  test('reads and prints JSON with integers of any size unchanged', () => {
    fc.assert(
      fc.property(anyJson, fc.constantFrom(undefined, 2), (value, space) => {
        expect(parseJson(printJson(value, space))).toEqual(value);
      }),
    );
  });

  test('prints a value as the source that it was read from', () => {
    fc.assert(
      fc.property(fc.array(hugeInteger, { minLength: 1 }), fc.double(), (integers, double) => {
        const text = `{"ids":[${integers.join()}],"other":${JSON.stringify(double)}}`;

        expect(printJson(parseJson(text))).toBe(text.replace('-0}', '0}'));
      }),
    );
  });

  test('refuses whatever JSON.parse refuses, even with huge integers', () => {
    for (const text of ['', '{', '[9007199254740993', '{"a":9007199254740993,}', '09007199254740993', 'NaN'])
      expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

describe('the limits of JSON:', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

  test('it is nested at most 512 deep, whether or not it holds large integers', () => {
    expect(parseJson(nested(512))).toBeDefined();
    for (const text of [nested(513), nested(1_000_000), `{"a":9007199254740993,"b":${nested(600)}}`])
      expect(() => parseJson(text)).toThrow(
        'expected at most 512 levels of nested arrays and objects, got more',
      );
  });

  test('the most deeply nested value that can be read can be printed', () => {
    for (const text of [nested(512), '{"a":'.repeat(511) + nested(1) + '}'.repeat(511)])
      expect(printJson(parseJson(text))).toBe(text);
  });

  test('brackets within strings do not count as nesting, however the strings are escaped', () => {
    for (const text of ['[', '{', '\\"[', '\\\\', '\\\\\\"['].map((part) => `"${part.repeat(600)}"`))
      expect(parseJson(text)).toBe(JSON.parse(text));
    expect(() => parseJson(`["\\\\",${nested(600)}]`)).toThrow(JsonLimitError);
  });

  test('an integer has at most 1,000 digits', () => {
    const digits = '7'.repeat(1_000);

    expect(parseJson(digits)).toBe(BigInt(digits));
    expect(() => parseJson(`[1,{"a":${digits}7}]`)).toThrow(
      'expected integers of at most 1000 digits, got 1001',
    );
    expect(parseJson(`"${'7'.repeat(2_000)}"`)).toHaveLength(2_000);
  });

  test('an integer of ten million digits is refused in about the time that reading it takes', () => {
    const started = performance.now();

    expect(() => parseJson(`[${'7'.repeat(10_000_000)}]`)).toThrow(JsonLimitError);
    expect(idDigits('7'.repeat(10_000_000))).toBeUndefined();

    // Converting it to a bigint would take half a minute.
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

test('every digit of a number is preserved, wherever the number is and whatever is around it', () => {
  const piece = fc.oneof(
    fc.stringMatching(/^[1-9]\d{0,20}$/),
    fc.stringMatching(/^[a:/ 0-9]{0,20}$/).map((text) => JSON.stringify(text)),
  );

  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = `[${pieces.join(',')}]`;
      expect(printJson(parseJson(text))).toBe(text);
    }),
  );
});
