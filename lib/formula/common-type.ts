import type { DataType } from './data-type.ts';

/**
 * The narrowest type that holds values of every given type, as CASE and COALESCE need it. An unknown type is left
 * out; undefined if all are.
 */
export function commonType(types: readonly (DataType | undefined)[]): DataType | undefined {
  const known = new Set(types.filter((type) => type !== undefined));
  if (known.size <= 1) return known.values().next().value;
  if (known.isSubsetOf(new Set(numbers))) return widestNumber([...known]);
  return known.isSubsetOf(new Set(dates)) ? 'DATETIME' : 'STRING';
}

/** The type of what is reckoned from values of these types: text is read as a DOUBLE, an unknown is a DECIMAL. */
export function widestNumber(types: readonly (DataType | undefined)[]): DataType {
  const reckoned = new Set(types.map((type) => (type === undefined ? 'DECIMAL' : asNumber[type])));
  return numbers.findLast((number) => reckoned.has(number)) ?? 'DECIMAL';
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
