import { listed, nearestName, parseJson } from '../../base/index.ts';

/** What a cell is turned into. `text`: it is taken as it is. */
const TYPES = ['text', 'number', 'boolean', 'json'] as const;
type CellType = (typeof TYPES)[number];

/** What stands in a template for a cell: `{{price}}`, `{{price:number}}`, `{{price:number?}}`. */
export type Placeholder = {
  /** As it is written. */
  readonly written: string;
  readonly column: string;
  readonly type: CellType;
  /** An empty cell leaves the member out. */
  readonly isOptional: boolean;
};

/** Placeholders in a text. */
export const PLACEHOLDERS = /\{\{([^{}]+)\}\}/g;

/** Reads what is between the braces. A column of exactly that name is meant first, whatever its name has in it. */
export function placeholderOf(
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
export function cellValue(
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
