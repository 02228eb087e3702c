import { listed, nearestName, parseJson } from '../../base/index.ts';

/** A message as the cells of a row make it, or what is wrong with them. */
type Filled = { readonly value: unknown } | { readonly faults: readonly string[] };

/** A job with placeholders for the columns of a CSV. */
export type Template = { readonly fill: (cellOf: (column: string) => string) => Filled };

/** What a value becomes for a row: `absent` leaves out the member or element that it is. */
type Fill = (cellOf: (column: string) => string, faults: string[]) => unknown;

const absent = Symbol('absent');

/**
 * Reads a template: JSON whose texts may hold placeholders for cells. A text that is one placeholder becomes its value;
 * in a longer text it is put in. All faults are reported at once.
 */
export function readTemplate(
  json: unknown,
  columns: readonly string[],
): Template | { readonly faults: readonly string[] } {
  const known = new Set(columns);
  const faults: string[] = [];
  let count = 0;
  const compile = (value: unknown): Fill => {
    if (typeof value === 'string') return compileText(value);
    if (Array.isArray(value)) return inList(value.map(compile));
    if (typeof value === 'object' && value !== null)
      return inObject(Object.entries(value).map(([name, each]) => [name, compile(each)]));
    return () => value;
  };
  const compileText = (text: string): Fill => {
    const found = [...text.matchAll(PLACEHOLDERS)].map(({ 1: inner = '' }) => placeholderOf(inner, known));
    count += found.length;
    faults.push(...found.flatMap((each) => ('fault' in each ? [each.fault] : [])));
    const placeholders = found.filter((each) => 'column' in each);
    const [only] = placeholders;
    if (only !== undefined && text === only.written) return alone(only);
    for (const { type, written } of placeholders)
      if (type !== 'text') faults.push(`${written}: expected it to be the whole text, got more around it`);
    return within(text, placeholders);
  };
  const fill = compile(json);
  if (faults.length === 0 && count === 0) faults.push('expected a column in it, such as {{id}}, got none');
  if (faults.length > 0) return { faults: [...new Set(faults)] };
  return {
    fill(cellOf) {
      const wrong: string[] = [];
      const value = fill(cellOf, wrong);
      return wrong.length > 0 ? { faults: [...new Set(wrong)] } : { value };
    },
  };
}

const alone =
  (placeholder: Placeholder): Fill =>
  (cellOf, faults) => {
    const cell = cellOf(placeholder.column);
    if (placeholder.isOptional && cell.trim() === '') return absent;
    const found = cellValue(cell, placeholder);
    if ('value' in found) return found.value;
    faults.push(found.fault);
    return absent;
  };

const within =
  (text: string, placeholders: readonly Placeholder[]): Fill =>
  (cellOf) => {
    const columns = new Map(placeholders.map(({ written, column }) => [written, column]));
    return text.replaceAll(PLACEHOLDERS, (written) => cellOf(columns.get(written) ?? ''));
  };

const inList =
  (elements: readonly Fill[]): Fill =>
  (...row) =>
    elements.map((fill) => fill(...row)).filter((value) => value !== absent);

const inObject =
  (members: readonly (readonly [string, Fill])[]): Fill =>
  (...row) =>
    Object.fromEntries(
      members.map(([name, fill]) => [name, fill(...row)] as const).filter(([, value]) => value !== absent),
    );

/** What a cell is turned into. `text`: it is taken as it is. */
const TYPES = ['text', 'number', 'boolean', 'json'] as const;
type CellType = (typeof TYPES)[number];

/** What stands in a template for a cell: `{{price}}`, `{{price:number}}`, `{{price:number?}}`. */
type Placeholder = {
  /** As it is written. */
  readonly written: string;
  readonly column: string;
  readonly type: CellType;
  /** An empty cell leaves the member out. */
  readonly isOptional: boolean;
};

/** Placeholders in a text. */
const PLACEHOLDERS = /\{\{([^{}]+)\}\}/g;

/** Reads what is between the braces. A column of exactly that name is meant first, whatever its name has in it. */
function placeholderOf(
  inner: string,
  columns: ReadonlySet<string>,
): Placeholder | { readonly fault: string } {
  const written = `{{${inner}}}`;
  const name = inner.trim();
  if (columns.has(name)) return { written, column: name, type: 'text', isOptional: false };
  const isOptional = name.endsWith('?');
  const required = isOptional ? name.slice(0, -1).trim() : name;
  const [, before = required, after = 'text'] = /^(.*):\s*([^:]*)$/s.exec(required) ?? [];
  const type = TYPES.find((each) => each === after);
  if (columns.has(required)) return { written, column: required, type: 'text', isOptional };
  const column = before.trim();
  if (!columns.has(column)) return { fault: missingColumn(written, column, columns) };
  if (type === undefined)
    return {
      fault: `${written}: expected one of ${TYPES.join(', ')} after the colon, got ${JSON.stringify(after)}`,
    };
  return { written, column, type, isOptional };
}

function missingColumn(written: string, column: string, columns: ReadonlySet<string>): string {
  const names = [...columns].filter((name) => name !== '');
  const meant = nearestName(column, names);
  const hint = meant === undefined ? `its columns are ${listed(names)}` : `did you mean ${meant}?`;
  return `${written}: expected a column of the CSV, got none of that name; ${hint}`;
}

/** The value of a cell, or what is wrong with it. */
function cellValue(
  cell: string,
  { column, type }: Placeholder,
): { readonly value: unknown } | { readonly fault: string } {
  const text = cell.trim();
  const wrong = (expected: string) => ({
    fault: `column ${column}: expected ${expected}, got ${text === '' ? 'an empty cell' : JSON.stringify(shortened(text))}`,
  });
  switch (type) {
    case 'text':
      return { value: cell };
    case 'number':
      return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)
        ? { value: parseJson(text) }
        : wrong('a number');
    case 'boolean':
      return /^(true|false)$/i.test(text) ? { value: text.toLowerCase() === 'true' } : wrong('true or false');
    case 'json':
      return jsonOf(text) ?? wrong('JSON');
    default:
      return type satisfies never;
  }
}

const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

function jsonOf(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}
