import type { ExactValue } from '../../tables/duckdb/exact-value.ts';

/** A value as text: a text as it is, nothing for null, and JSON for what is nested. */
export function cellOf(value: ExactValue): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
