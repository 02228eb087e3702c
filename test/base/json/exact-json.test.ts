import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalExact, parseExact, printExact } from '../../../lib/base/json/json.ts';
import { cpuMs } from '../../cpu-time.ts';
import { scaled } from '../../scale.ts';

const canonical = (text: string) => canonicalExact(parseExact(text));

describe('numbers are compared by their exact value', () => {
  test.each([
    ['1', '1.0'],
    ['9007199254740993', '9007199254740993.0'],
    ['1e2', '100'],
    ['100e-2', '1'],
    ['-0', '0.000e7'],
    ['0.1e1', '1E+0'],
    ['12345678901234567890e-10', '1234567890.123456789'],
    ['1e10000000000', '10e9999999999'],
    ['1e-10000000000', '0.1e-9999999999'],
    ['0e10000000000000000000000', '0'],
  ])('%s equals %s', (a, b) => {
    expect(canonical(a)).toBe(canonical(b));
  });

  test.each([
    ['0.1234567890123456789', '0.1234567890123456788'],
    ['9007199254740993', '9007199254740992'],
    ['9007199254740993', '9007199254740992.0'],
    ['1', '-1'],
    ['1e400', '1e401'],
    ['1e-400', '0'],
    ['1', '"1"'],
    ['1e10000000000000000000000', '1e10000000000000000000001'],
  ])('%s differs from %s', (a, b) => {
    expect(canonical(a)).not.toBe(canonical(b));
  });

  test('integers and powers of ten compare as exact integers do', () => {
    const power = fc.integer({ min: -40, max: 40 });
    const written = fc.record({ digits: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), power });
    const scaledUp = ({ digits, power: exponent }: { digits: bigint; power: number }) =>
      digits * 10n ** BigInt(exponent + 40);

    fc.assert(
      fc.property(written, written, (a, b) => {
        const print = ({ digits, power: exponent }: typeof a) => canonical(`${digits}e${exponent}`);

        expect(print(a) === print(b)).toBe(scaledUp(a) === scaledUp(b));
        // JSON has only one way to write zero.
        const hundredfold = a.digits === 0n ? '0' : `${a.digits}00`;
        expect(canonical(`${hundredfold}.000e${a.power}`)).toBe(canonical(`${a.digits}e${a.power + 2}`));
      }),
      { numRuns: scaled(200, 2_000) },
    );
  });

  test('comparing a million digits takes at most as long as reading them', async () => {
    const digits = '123456789'.repeat(120_000);

    let [equal, exponents] = [false, true];
    const tookMs = await cpuMs(() => {
      equal = canonical(`${digits}.0`) === canonical(`${digits}e0`);
      exponents = canonical(`1e${digits}`) === canonical(`1e${digits}0`);
    });

    expect([equal, exponents]).toEqual([true, false]);
    // Printing a bigint of that length takes many seconds.
    expect(tookMs).toBeLessThan(2_000);
  });
});

test('names are sorted, and equal strings are printed identically, however they were escaped', () => {
  expect(canonical('{"b": [1.0, "\\u00e4"], "a": null}')).toBe(canonical('{"a":null,"b":[1,"ä"]}'));
});

test('numbers are printed for people as they were sent', () => {
  expect(printExact(parseExact('{"b":1.50,"a":[9007199254740993.0]}'))).toBe(
    '{"a":[9007199254740993.0],"b":1.50}',
  );
});
