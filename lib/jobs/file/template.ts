import { cellValue, PLACEHOLDERS, type Placeholder, placeholderOf } from './placeholder.ts';

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
