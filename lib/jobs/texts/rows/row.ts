import { JsonLimitError, own, parseJson, preview, printJson } from '../../../base/index.ts';

export type RowColumns = {
  readonly text: string;
  /** Default: the id is the number of the row's line. */
  readonly id?: string | undefined;
  readonly columns?: readonly string[] | undefined;
};

/** A row of a source. `line`: the physical line where it starts, from 1. */
export type Row = {
  readonly line: number;
  readonly id: string;
  readonly text: string;
  readonly columns: Readonly<Record<string, string>>;
};

export type BadRow = {
  readonly line: number;
  readonly fault: string;
  readonly id?: string | undefined;
  readonly columns?: Readonly<Record<string, string>> | undefined;
  /** There is nothing to score: the text is blank, or null. */
  readonly isEmpty?: true;
};

export const requestedColumns = ({ text, id, columns = [] }: RowColumns): readonly string[] =>
  id === undefined ? [text, ...columns] : [text, id, ...columns];

type FieldOf = (column: string) => unknown;

/** Makes a row from its values, undefined for a field that is not there. */
export function rowFrom(line: number, requested: RowColumns, fieldOf: FieldOf): Row | BadRow {
  const { text, id, columns = [] } = requested;
  const faults = requestedColumns(requested).flatMap((name) => faultOf(name, fieldOf(name), requested) ?? []);
  if (faults.length > 0) {
    const value = fieldOf(text);
    const bad = badRow({ line, fault: [...new Set(faults)].join('; ') }, requested, fieldOf);
    return value === null || (typeof value === 'string' && isBlank(value)) ? { ...bad, isEmpty: true } : bad;
  }
  return {
    line,
    id: id === undefined ? String(line) : printed(fieldOf(id)),
    text: printed(fieldOf(text)),
    columns: Object.fromEntries(columns.map((column) => [column, printed(fieldOf(column))])),
  };
}

/** A bad row with what can be read of it; absent values are left out. */
export function badRow({ line, fault }: BadRow, requested: RowColumns, fieldOf: FieldOf): BadRow {
  const { id, columns = [] } = requested;
  const hasId = id !== undefined && faultOf(id, fieldOf(id), { text: '', id }) === undefined;
  const read = columns
    .filter((column) => fieldOf(column) !== undefined)
    .map((column) => [column, printed(fieldOf(column))] as const);
  return {
    line,
    fault,
    ...(hasId ? { id: printed(fieldOf(id)) } : {}),
    ...(read.length === 0 ? {} : { columns: Object.fromEntries(read) }),
  };
}

function faultOf(name: string, value: unknown, { text, id }: RowColumns): string | undefined {
  if (value === undefined) return `${name}: expected a field, got none`;
  if (name !== text && name !== id) return undefined;
  const isText = typeof value === 'string';
  const what = name === text ? 'text' : 'an id';
  if (!isText && (name === text || (typeof value !== 'number' && typeof value !== 'bigint')))
    return `${name}: expected ${what}, got ${kindOf(value)}`;
  return isBlank(String(value)) ? `${name}: expected ${what}, got an empty value` : undefined;
}

const isBlank = (text: string) => text.trim() === '';

const kindOf = (value: unknown) => (typeof value === 'string' ? 'a string' : preview(value));

/** A value as a CSV would hold it: strings as they are, null as nothing, anything else as JSON. */
export const printed = (value: unknown) =>
  typeof value === 'string' ? value : value === null ? '' : printJson(value);

/** Undefined for a blank line. */
export function jsonRow(line: number, text: string, columns: RowColumns): Row | BadRow | undefined {
  if (text.trim() === '') return undefined;
  const value = jsonOf(text);
  if (value instanceof JsonLimitError) return { line, fault: `the line: ${value.message}` };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return {
      line,
      fault: `the line: expected a JSON object, got ${value === undefined ? 'invalid JSON' : kindOf(value)}`,
    };
  const fields: Readonly<Record<string, unknown>> = { ...value };
  return rowFrom(line, columns, (name) => own(fields, name));
}

/** Undefined if the text is not JSON: no JSON value is undefined. The error if it is beyond a limit. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    return error instanceof JsonLimitError ? error : undefined;
  }
}
