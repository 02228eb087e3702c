/** Whether a double holds the number in this JSON text exactly. AWS compares only such numbers as numbers. */
export function isExact(spelling: string): boolean {
  const value = Number(spelling);
  const shortest = String(value);
  return spelling === shortest || (Number.isFinite(value) && decimalOf(spelling) === decimalOf(shortest));
}

/** The canonical form of a decimal number: its digits without zeros at either end, and the power of ten. */
function decimalOf(spelling: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(spelling) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const shortest = digits.replace(/0+$/, '');
  if (shortest === '') return '0';
  return `${sign}${shortest}e${BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - shortest.length)}`;
}

const ABOVE = {
  '>': (value: number, bound: number) => value > bound,
  '>=': (value: number, bound: number) => value >= bound,
};
const BELOW = {
  '<': (value: number, bound: number) => value < bound,
  '<=': (value: number, bound: number) => value <= bound,
};
const EQUAL = { '=': (value: number, bound: number) => value === bound };
const BOUNDS = { ...ABOVE, ...BELOW, ...EQUAL };

/**
 * Creates the test for a list of operators and numbers: `["=", 5]`, one bound, or a lower and then an upper bound, such
 * as `[">", 0, "<=", 5]`. Returns undefined for any other list, and if no number is between the bounds.
 */
export function numericTest(terms: unknown): ((value: number) => boolean) | undefined {
  if (!Array.isArray(terms) || (terms.length !== 2 && terms.length !== 4)) return undefined;
  const [operator, bound, upperOperator, upperBound] = terms as readonly unknown[];
  if (!isKey(BOUNDS, operator) || !isNumber(bound)) return undefined;
  const holds = BOUNDS[operator];
  if (terms.length === 2) return (value) => holds(value, bound);
  if (!isKey(ABOVE, operator) || !isKey(BELOW, upperOperator) || !isNumber(upperBound)) return undefined;
  const holdsAbove = BELOW[upperOperator];
  return bound < upperBound ? (value) => holds(value, bound) && holdsAbove(value, upperBound) : undefined;
}

const isKey = <Table extends object>(table: Table, key: unknown): key is keyof Table =>
  typeof key === 'string' && Object.hasOwn(table, key);

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
