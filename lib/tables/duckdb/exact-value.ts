import type { DuckDBValue } from '@duckdb/node-api';
import type { DuckDb } from './schema.ts';

/** A value as JSON without any loss: a number that JavaScript cannot hold exactly is a string of its digits. */
export type ExactValue =
  | null
  | boolean
  | number
  | string
  | readonly ExactValue[]
  | { readonly [name: string]: ExactValue };

/**
 * Creates a function that turns DuckDB's values into JSON. Integers of any type are numbers up to 2^53, otherwise
 * strings; decimals are numbers up to 15 digits, otherwise strings; times are ISO 8601 in UTC; maps are objects.
 * Intervals, bytes and other values are strings as DuckDB prints them.
 */
export function createExactValue(duckDb: DuckDb): (value: DuckDBValue) => ExactValue {
  function exact(value: DuckDBValue): ExactValue {
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (typeof value === 'bigint') return integer(value);
    if (value instanceof duckDb.DuckDBTimestampValue || value instanceof duckDb.DuckDBTimestampTZValue)
      return value.isFinite ? time(value.micros) : String(value);
    if (value instanceof duckDb.DuckDBDecimalValue) return decimal(value.toString());
    return nested(value) ?? String(value);
  }
  function nested(value: Exclude<DuckDBValue, null>): ExactValue | undefined {
    if (value instanceof duckDb.DuckDBListValue || value instanceof duckDb.DuckDBArrayValue)
      return value.items.map(exact);
    if (value instanceof duckDb.DuckDBStructValue)
      return Object.fromEntries(Object.entries(value.entries).map(([name, each]) => [name, exact(each)]));
    if (value instanceof duckDb.DuckDBMapValue)
      return Object.fromEntries(value.entries.map(({ key, value: each }) => [String(key), exact(each)]));
    return value instanceof duckDb.DuckDBUnionValue ? exact(value.value) : undefined;
  }
  return exact;
}

const integer = (value: bigint): number | string =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);

/** A decimal of at most this many digits is still the same digits as a JavaScript number. */
const MAX_DIGITS = 15;

const decimal = (text: string): number | string =>
  text.replace(/^-?[0.]*/, '').replace('.', '').length <= MAX_DIGITS ? Number(text) : text;

/** The first and the last microsecond of the years 0000 to 9999, which ISO 8601 writes with four digits. */
const FIRST_MICROS = BigInt(Date.parse('0000-01-01T00:00:00Z')) * 1000n;
const LAST_MICROS = BigInt(Date.parse('+010000-01-01T00:00:00Z')) * 1000n;

/** Epoch microseconds in ISO 8601, with three or, if they are not zero, six digits after the second. */
function time(micros: bigint): string {
  if (micros < FIRST_MICROS || micros >= LAST_MICROS) return `${micros} microseconds since 1970`;
  const rest = ((micros % 1000n) + 1000n) % 1000n;
  const iso = new Date(Number((micros - rest) / 1000n)).toISOString();
  return rest === 0n ? iso : iso.replace('Z', `${String(rest).padStart(3, '0')}Z`);
}
