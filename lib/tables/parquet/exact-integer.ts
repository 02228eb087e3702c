import { ExactNumber } from '../../json/exact-json.ts';

/** An integer has so many digits at most: 2^63 has 19. */
const MOST_DIGITS = 19;

/** The value of a JSON number if it is an integer of 64 bits, however it is written (`1.0`, `1e3`); otherwise undefined. */
export function exactInteger(source: string): bigint | undefined {
  const [, sign, digits = '', power = '0'] = DECIMAL.exec(new ExactNumber(source).value) ?? [];
  if (power.startsWith('-') || power.length > 2) return undefined;
  const zeros = Number(power);
  if (digits.length + zeros > MOST_DIGITS) return undefined;
  const value = BigInt(`${digits}${'0'.repeat(zeros)}`) * (sign === '-' ? -1n : 1n);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** As `ExactNumber` writes a value: without zeros at either end. */
const DECIMAL = /^(-?)(\d+)(?:e(-?\d+))?$/;
