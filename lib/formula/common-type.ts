import type { DataType } from './data-type.ts';

/**
 * The narrowest type that can hold values of every given type, for CASE and COALESCE. Unknown types are ignored;
 * undefined if all are unknown.
 */
export function commonType(types: readonly (DataType | undefined)[]): DataType | undefined {
  const known = new Set(types.filter((type) => type !== undefined));
  if (known.size <= 1) return known.values().next().value;
  if (known.isSubsetOf(new Set(numbers))) return widestNumber([...known]);
  return known.isSubsetOf(new Set(dates)) ? 'DATETIME' : 'STRING';
}

/** The type of arithmetic over values of these types: text is read as a DOUBLE, an unknown type as a DECIMAL. */
export function widestNumber(types: readonly (DataType | undefined)[]): DataType {
  const numeric = new Set(types.map((type) => (type === undefined ? 'DECIMAL' : asNumber[type])));
  return numbers.findLast((number) => numeric.has(number)) ?? 'DECIMAL';
}

/** From the narrowest to the widest. */
const numbers: readonly DataType[] = ['LONG', 'DECIMAL', 'DOUBLE'];

const dates: readonly DataType[] = ['DATE', 'DATETIME'];

const asNumber: Readonly<Record<DataType, DataType>> = {
  STRING: 'DOUBLE',
  LONG: 'LONG',
  DECIMAL: 'DECIMAL',
  DOUBLE: 'DOUBLE',
  DATE: 'LONG',
  DATETIME: 'LONG',
};
