import type { ExactValue } from '../../tables/duckdb/exact-value.ts';
import { cellOf } from './cell.ts';

/**
 * A row as CSV (RFC 4180), without the end of its line. Nothing between two commas is null; an empty text has quotes.
 * What is nested is JSON.
 */
export const csvLine = (values: readonly ExactValue[]): string => values.map(field).join(',');

function field(value: ExactValue): string {
  const text = cellOf(value);
  return /[",\r\n]/.test(text) || value === '' ? `"${text.replaceAll('"', '""')}"` : text;
}
