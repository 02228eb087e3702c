import { listed, nearestName, shortened } from '../../base/index.ts';
import { parseJson } from '../../base/json/index.ts';
import { repeatedIn } from '../../text/index.ts';

type Filled = { readonly value: unknown } | { readonly faults: readonly string[] };

type Template = { readonly fill: (cellOf: (column: string) => string) => Filled };

const absent = Symbol('absent');

/** A text that is one placeholder becomes the cell's value; in a longer text the cell is put in. */
export function readTemplate(
  json: unknown,
  columns: readonly string[],
): Template | { readonly faults: readonly string[] } {
  const known = new Set(columns);
  const twice = repeatedIn(columns);
  const faults: string[] = [];
  const placeholders = new Map<string, Placeholder>();
  replaced(json, (text) => {
    for (const [written, inner = ''] of text.matchAll(PLACEHOLDERS)) {
      const read = placeholderOf(inner, known);
      if ('fault' in read) faults.push(read.fault);
      else if (twice.has(read.column))
        faults.push(
          `${written}: expected a column that the CSV has once, got one that it has more than once`,
        );
      else if (read.type !== 'text' && text !== written)
        faults.push(`${written}: expected it to be the whole text, got more around it`);
      else placeholders.set(written, read);
    }
    return text;
  });
  if (faults.length === 0 && placeholders.size === 0)
    faults.push('expected a column in it, such as {{id}}, got none');
  if (faults.length > 0) return { faults: [...new Set(faults)] };
  return {
    fill(cellOf) {
      const wrong = new Set<string>();
      const value = replaced(json, (text) => {
        const whole = placeholders.get(text);
        if (whole === undefined)
          return text.replaceAll(PLACEHOLDERS, (each) => cellOf(placeholders.get(each)?.column ?? ''));
        const cell = cellOf(whole.column);
        if (whole.isOptional && cell.trim() === '') return absent;
        const found = cellValue(cell, whole);
        if ('value' in found) return found.value;
        wrong.add(found.fault);
        return absent;
      });
      return wrong.size > 0 ? { faults: [...wrong] } : { value };
    },
  };
}

/** JSON with each text replaced, at any depth; a member or element that is `absent` is left out. */
function replaced(value: unknown, of: (text: string) => unknown): unknown {
  if (typeof value === 'string') return of(value);
  if (typeof value !== 'object' || value === null) return value;
  const left = Object.entries(value)
    .map(([name, each]) => [name, replaced(each, of)] as const)
    .filter(([, each]) => each !== absent);
  return Array.isArray(value) ? left.map(([, each]) => each) : Object.fromEntries(left);
}

/** What a cell is turned into. `text`: it is taken as it is. */
const TYPES = ['text', 'number', 'boolean', 'json'] as const;
type CellType = (typeof TYPES)[number];

/** What stands in a template for a cell: `{{price}}`, `{{price:number}}`, `{{price:number?}}`. */
type Placeholder = {
  readonly column: string;
  readonly type: CellType;
  readonly isOptional: boolean;
};

const PLACEHOLDERS = /\{\{([^{}]+)\}\}/g;

/** Reads what is between the braces. A column of exactly that name is meant first, whatever its name has in it. */
function placeholderOf(
  inner: string,
  columns: ReadonlySet<string>,
): Placeholder | { readonly fault: string } {
  const written = `{{${inner}}}`;
  const name = inner.trim();
  if (columns.has(name)) return { column: name, type: 'text', isOptional: false };
  const isOptional = name.endsWith('?');
  const required = isOptional ? name.slice(0, -1).trim() : name;
  if (columns.has(required)) return { column: required, type: 'text', isOptional };
  const [, before = required, after = 'text'] = /^(.*):\s*([^:]*)$/s.exec(required) ?? [];
  const column = before.trim();
  if (!columns.has(column)) return { fault: missingColumn(written, column, columns) };
  const type = TYPES.find((each) => each === after);
  if (type !== undefined) return { column, type, isOptional };
  const expected = `one of ${TYPES.join(', ')} after the colon`;
  return { fault: `${written}: expected ${expected}, got ${JSON.stringify(after)}` };
}

function missingColumn(written: string, column: string, columns: ReadonlySet<string>): string {
  const names = [...columns].filter((name) => name !== '');
  const meant = nearestName(column, names);
  const hint = meant === undefined ? `its columns are ${listed(names)}` : `did you mean ${meant}?`;
  return `${written}: expected a column of the CSV, got none of that name; ${hint}`;
}

function cellValue(
  cell: string,
  { column, type }: Placeholder,
): { readonly value: unknown } | { readonly fault: string } {
  const text = cell.trim();
  const wrong = (expected: string) => ({
    fault: `column ${column}: expected ${expected}, got ${text === '' ? 'an empty cell' : JSON.stringify(shortened(text, 60))}`,
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

function jsonOf(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}
