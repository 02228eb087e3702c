import { JsonLimitError, parseJson, preview, printJson } from '../../../base/index.ts';
import { type BadRow, badRow, type Row, type RowColumns, requestedColumns, rowFrom } from './row-fields.ts';
import type { SourceLine } from './source-lines.ts';

/** Parses a line of NDJSON into a row; undefined for a blank line. */
export function ndjsonRow(
  { number: line, text, fault }: SourceLine,
  columns: RowColumns,
): Row | BadRow | undefined {
  if (fault !== undefined) return { line, fault };
  if (text.trim() === '') return undefined;
  const value = jsonOf(text);
  if (value instanceof JsonLimitError) return { line, fault: `the line: ${value.message}` };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return {
      line,
      fault: `the line: expected a JSON object, got ${value === undefined ? 'invalid JSON' : kindOf(value)}`,
    };
  const fields = new Map(Object.entries(value));
  const wrong = requestedColumns(columns).flatMap((name) => faultOf(name, fields, columns) ?? []);
  if (wrong.length > 0) {
    const isEmpty = wrong.length === 1 && fields.get(columns.text) === null;
    const known = (name: string) => (isKnown(name, fields, columns) ? printed(fields.get(name)) : undefined);
    return badRow({ line, fault: wrong.join('; '), ...(isEmpty ? { isEmpty } : {}) }, columns, known);
  }
  return rowFrom(line, columns, (name) => printed(fields.get(name)));
}

/** Undefined if the text is not JSON: no JSON value is undefined. The error if it is beyond a limit. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    return error instanceof JsonLimitError ? error : undefined;
  }
}

const kindOf = (value: unknown) => (typeof value === 'string' ? 'a string' : preview(value));

function faultOf(
  name: string,
  fields: ReadonlyMap<string, unknown>,
  { text, id }: RowColumns,
): string | undefined {
  const value = fields.get(name);
  if (value === undefined) return `${name}: expected a field, got none`;
  if (name === text && typeof value !== 'string') return `${name}: expected text, got ${kindOf(value)}`;
  if (name === id && !['string', 'number', 'bigint'].includes(typeof value))
    return `${name}: expected an id, got ${kindOf(value)}`;
  return undefined;
}

const isKnown = (name: string, fields: ReadonlyMap<string, unknown>, columns: RowColumns) =>
  name === columns.text ? fields.has(name) : faultOf(name, fields, columns) === undefined;

/** A value as a CSV would hold it: strings as they are, null as nothing, anything else as JSON. */
export const printed = (value: unknown) =>
  typeof value === 'string' ? value : value === null ? '' : printJson(value);
