/** A JSON number that keeps its source: `value` is the same text for all sources of the same value. */
export class ExactNumber {
  readonly source: string;
  readonly value: string;

  constructor(source: string) {
    this.source = source;
    this.value = decimalValue(source);
  }
}

/** Reads JSON as `JSON.parse` does, with an `ExactNumber` for each number. Throws `SyntaxError`. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === 'number' ? new ExactNumber(source ?? '') : value,
  );
}

/** JSON of a value of `parseExact`, in which equal values print alike: names sorted, no white space, numbers by value. */
export const canonicalExact = (value: unknown): string => print(value, (number) => number.value);

/** The same with the numbers as in their source: for people. */
export const printExact = (value: unknown): string => print(value, (number) => number.source);

/** For values of `parseJson`: numbers by their value (`1.0` as `1`, `1e20` as its digits), bigints by their digits. */
export const canonicalJson = (value: unknown): string => print(value, ({ source }) => source);

function print(value: unknown, number: (value: ExactNumber) => string): string {
  if (value instanceof ExactNumber) return number(value);
  if (typeof value === 'bigint') return String(value);
  // A whole number prints like a bigint, since the same value may have been read as one elsewhere.
  if (typeof value === 'number') return Number.isInteger(value) ? String(BigInt(value)) : String(value);
  if (Array.isArray(value)) return `[${value.map((part) => print(part, number)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, part]) => `${JSON.stringify(name)}:${print(part, number)}`).join(',')}}`;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A number with a longer exponent stays as it is. */
const MAX_EXPONENT_LENGTH = 15;

/**
 * The value of a JSON number as digits without zeros at either end, and a power of ten: `0.10` is `1e-1`, `-100` is
 * `-1e2`, every zero is `0`. Linear in its length: neither a double nor a bigint is made of it.
 */
function decimalValue(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? [];
  const digits = whole + fraction;
  let [first, end] = [0, digits.length];
  while (digits.charCodeAt(first) === ZERO) first += 1;
  if (first === end) return '0';
  if (exponent.length > MAX_EXPONENT_LENGTH) return source;
  while (digits.charCodeAt(end - 1) === ZERO) end -= 1;
  return `${sign}${digits.slice(first, end)}e${Number(exponent) + whole.length - end}`;
}

const ZERO = 0x30;
