import { isExact } from './numbers.ts';
import { type EventPattern, type EventValue, type FieldPattern, INEXACT } from './pattern.ts';

/**
 * Whether an event, given as JSON text, matches a pattern. As in AWS's matcher, a field is a leaf of the JSON, so `[]`
 * and `{}` are absent, and the matching fields must not come from different items of one array. Throws `SyntaxError`
 * for invalid JSON.
 */
export function matchesPattern({ alternatives }: EventPattern, event: string): boolean {
  const fields = fieldsOf(JSON.parse(event, markInexact));
  return alternatives.some((alternative) => matchesAll(alternative, fields, new Map()));
}

const markInexact = (_name: string, value: unknown, { source = '' }: { source?: string }): unknown =>
  typeof value === 'number' && !isExact(source) ? INEXACT : value;

/** The index of the item that a value comes from, by the number of the array. */
type Items = ReadonlyMap<number, number>;

type Found = { readonly value: EventValue; readonly items: Items };

type Fields = ReadonlyMap<string, readonly Found[]>;

/** The values of an event by path. The names on a path are joined by dots; places in arrays do not appear in it. */
function fieldsOf(event: unknown): Fields {
  const fields = new Map<string, Found[]>();
  let arrays = 0;
  const visit = (value: unknown, names: readonly string[], items: Items): void => {
    if (Array.isArray(value)) {
      const array = arrays++;
      for (const [index, each] of value.entries())
        visit(each, names, isLeaf(each) ? items : new Map([...items, [array, index]]));
    } else if (isLeaf(value)) {
      const path = names.join('.');
      const found = fields.get(path) ?? [];
      fields.set(path, found);
      found.push({ value, items });
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, each] of Object.entries(value)) visit(each, [...names, name], items);
    }
  };
  visit(event, [], new Map());
  return fields;
}

const isLeaf = (value: unknown): value is EventValue => typeof value !== 'object' || value === null;

/** Whether all of these fields match with values from the same array items as the fields before them. */
function matchesAll(patterns: readonly FieldPattern[], fields: Fields, before: Items): boolean {
  const [pattern, ...others] = patterns;
  if (pattern === undefined) return true;
  const { path, tests, mayBeAbsent } = pattern;
  const reachable = (fields.get(path) ?? []).filter(({ items }) => agree(items, before));
  if (mayBeAbsent && reachable.length === 0 && matchesAll(others, fields, before)) return true;
  const matching = reachable.filter(({ value }) => tests.some((test) => test(value)));
  // Values of the same item lead to the same comparison, which is made once.
  const next = new Map(matching.map(({ items }) => [JSON.stringify([...items]), items]));
  return next.values().some((items) => matchesAll(others, fields, new Map([...before, ...items])));
}

const agree = (items: Items, before: Items): boolean =>
  items.entries().every(([array, index]) => (before.get(array) ?? index) === index);
