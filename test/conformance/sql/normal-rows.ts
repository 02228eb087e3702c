import { ExactNumber, parseExact } from '../../../lib/base/json/json.ts';
import type { TrinoResult, TrinoType } from './trino-client.ts';

/** Converts rows of Trino to the form that is compared: rows as lists, maps as sorted pairs, numbers and times as text. */
export const normalTrino = ({ columns, rows }: TrinoResult): readonly string[] =>
  rows.map((row) => JSON.stringify(columns.map(({ type }, at) => ofTrino(row[at], type))));

/** Converts rows of DuckDB, whose structs are objects and whose maps are lists of keys and values, to the same form. */
export const normalDuckDb = (
  { columns }: Pick<TrinoResult, 'columns'>,
  rows: readonly (readonly unknown[])[],
): readonly string[] =>
  rows.map((row) => JSON.stringify(columns.map(({ type }, at) => ofDuckDb(row[at], type))));

function ofTrino(value: unknown, type: TrinoType): unknown {
  if (value === null) return null;
  const of = (part: unknown, at: number) => ofTrino(part, typeIn(type, at));
  switch (type.rawType) {
    case 'array':
      return (value as unknown[]).map((part) => of(part, 0));
    case 'map':
      return sorted(Object.entries(value as object).map(([key, part]) => [key, of(part, 1)]));
    case 'row':
      return (value as unknown[]).map(of);
    default:
      return scalar(value);
  }
}

function ofDuckDb(value: unknown, type: TrinoType): unknown {
  if (value === null) return null;
  const of = (part: unknown, at: number) => ofDuckDb(part, typeIn(type, at));
  switch (type.rawType) {
    case 'array':
      return (value as unknown[]).map((part) => of(part, 0));
    case 'map':
      return sorted(
        (value as { readonly key: unknown; readonly value: unknown }[]).map((entry) => [
          entry.key,
          of(entry.value, 1),
        ]),
      );
    case 'row':
      return Object.values(value as object).map(of);
    default:
      return scalar(value);
  }
}

function scalar(value: unknown): unknown {
  if (value instanceof ExactNumber) return value.source;
  if (typeof value === 'number') return `${value}`;
  // The engines print times with different numbers of fractional digits.
  return typeof value === 'string'
    ? value.replace(/^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.(\d*?)0*$/, (_, time, rest) =>
        rest === '' ? time : `${time}.${rest}`,
      )
    : value;
}

const sorted = (entries: readonly (readonly unknown[])[]) =>
  [...entries].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));

/** The type of an array's items, of a map's values, or of a row's field. */
function typeIn({ arguments: within }: TrinoType, at: number): TrinoType {
  const value = within[at]?.value as TrinoType | { readonly typeSignature: TrinoType } | undefined;
  if (value === undefined) throw new TypeError('expected a type within, got none');
  return 'typeSignature' in value ? value.typeSignature : value;
}

/**
 * A row whose JSON texts are replaced by their values. Trino reformats JSON that it reads into a text column: numbers
 * change their notation, and unpaired surrogates become question marks.
 */
export const asData = (row: string): string =>
  JSON.stringify(JSON.parse(row), (_name, value) => (typeof value === 'string' ? dataOf(value) : value));

/**
 * Sorted rows of DuckDB, with Trino's exact number wherever DuckDB has the nearest double. In JSON that a query parses,
 * DuckDB reads a number with a fraction or exponent as a double, Trino exactly.
 */
export const withExactNumbers = (duckDb: readonly string[], trino: readonly string[]): readonly string[] =>
  duckDb.map((row, at) => {
    const cells = JSON.parse(trino[at] ?? '[]') as readonly unknown[];
    return JSON.stringify(
      (JSON.parse(row) as readonly unknown[]).map((cell, column) =>
        isNearest(cell, cells[column]) ? cells[column] : cell,
      ),
    );
  });

const isNearest = (double: unknown, exact: unknown): boolean =>
  typeof double === 'string' &&
  typeof exact === 'string' &&
  /^-?\d+(?=[.e])(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(double) &&
  Number(double) === Number(exact);

const NUMBER = /^-?\d+(?:\.\d+)?e[+-]?\d+$/i;

function dataOf(text: string): string {
  const wellFormed = text.replaceAll(/\p{Surrogate}/gu, '?');
  if (NUMBER.test(wellFormed)) return new ExactNumber(wellFormed).value;
  if (!/^[[{]/.test(wellFormed)) return wellFormed;
  try {
    return printed(parseExact(wellFormed));
  } catch {
    return wellFormed;
  }
}

function printed(value: unknown): string {
  if (value instanceof ExactNumber) return value.value;
  // A number whose exponent is too large for an engine is printed as text: compare it as a number.
  if (typeof value === 'string' && /e[+-]?\d{10,}$/i.test(value) && NUMBER.test(value))
    return new ExactNumber(value).value;
  if (typeof value === 'string') return JSON.stringify(value.replaceAll(/\p{Surrogate}/gu, '?'));
  if (Array.isArray(value)) return `[${value.map(printed).join(',')}]`;
  if (typeof value !== 'object' || value === null) return `${value}`;
  const members = Object.entries(value).map(([name, part]) => `${printed(name)}:${printed(part)}`);
  return `{${members.sort().join(',')}}`;
}
