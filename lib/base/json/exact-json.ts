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

function print(value: unknown, number: (value: ExactNumber) => string): string {
  if (value instanceof ExactNumber) return number(value);
  if (Array.isArray(value)) return `[${value.map((part) => print(part, number)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, part]) => `${JSON.stringify(name)}:${print(part, number)}`).join(',')}}`;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?)(\d+))?$/;

/**
 * The value of a JSON number as digits without zeros at either end, and a power of ten: `0.10` is `1e-1`, `-100` is
 * `-1e2`, every zero is `0`. Text all the way, and linear in its length: neither a double nor a bigint is made of it.
 */
function decimalValue(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponentSign = '', exponent = ''] =
    NUMBER.exec(source) ?? [];
  const digits = whole + fraction;
  const first = indexOfOther(digits);
  if (first === digits.length) return '0';
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === ZERO) end -= 1;
  const power = addToDecimal(exponentSign === '-', exponent, digits.length - end - fraction.length);
  return `${sign}${digits.slice(first, end)}e${power}`;
}

const ZERO = 0x30;

/** The index of the first digit that is not 0; the length if there is none. */
function indexOfOther(digits: string): number {
  let at = 0;
  while (digits.charCodeAt(at) === ZERO) at += 1;
  return at;
}

/** The last digits of a number that are added to as a number: their sum with any text's length is exact. */
const TAIL = 15;
const TAIL_RANGE = 10 ** TAIL;

/** An integer of any length plus a small one, as text. */
function addToDecimal(isNegative: boolean, digits: string, addend: number): string {
  const stripped = digits.slice(indexOfOther(digits));
  if (stripped.length <= TAIL) return String((isNegative ? -1 : 1) * Number(stripped) + addend);
  const tail = Number(stripped.slice(-TAIL)) + (isNegative ? -addend : addend);
  const carry = Math.floor(tail / TAIL_RANGE);
  const head = step(stripped.slice(0, -TAIL), carry);
  const sum = `${head}${String(tail - carry * TAIL_RANGE).padStart(TAIL, '0')}`;
  return `${isNegative ? '-' : ''}${sum.slice(indexOfOther(sum))}`;
}

/** A positive integer plus 1, minus 1, or unchanged. */
function step(digits: string, by: number): string {
  if (by === 0) return digits;
  const [turning, turned] = by > 0 ? ['9', '0'] : ['0', '9'];
  let end = digits.length;
  while (end > 0 && digits[end - 1] === turning) end -= 1;
  const rest = turned.repeat(digits.length - end);
  return end === 0 ? `1${rest}` : `${digits.slice(0, end - 1)}${Number(digits[end - 1]) + by}${rest}`;
}
