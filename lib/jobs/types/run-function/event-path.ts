import { listed, own, shortened } from '../../../base/index.ts';
import { isObject } from '../../message/check-message.ts';

/** What a path leads to: the field's value, or how far it leads, and the value that has no such field. */
export type FoundField =
  | { readonly kind: 'field'; readonly value: unknown }
  | { readonly kind: 'missing'; readonly reached: string; readonly value: unknown };

const STEP = /\.([A-Za-z0-9_-]+)|\[(\d+)\]|\['([^']+)'\]/g;

/**
 * Whether a text is a path to a field of an event: `$` is the whole event, `.name` and `['name']` a field of an object,
 * `[0]` an entry of a list.
 */
export const isEventPath = (text: string): boolean =>
  /^\$(\.[A-Za-z0-9_-]+|\[\d+\]|\['[^']+'\])*$/.test(text);

/** The field at a path of an event. A field that is null is not missing. */
export function fieldAt(event: unknown, path: string): FoundField {
  let value = event;
  let reached = '$';
  for (const [step, name, index, quoted] of path.matchAll(STEP)) {
    const next = index === undefined ? memberOf(value, name ?? quoted ?? '') : entryOf(value, Number(index));
    if (next === undefined) return { kind: 'missing', reached, value };
    value = next;
    reached += step;
  }
  return { kind: 'field', value };
}

const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? own(value, name) : undefined);

const entryOf = (value: unknown, index: number): unknown => (Array.isArray(value) ? value[index] : undefined);

/** What the event has where a field is missing, without the values themselves, which may be secret. */
export const whatIsThere = ({ reached, value }: Extract<FoundField, { kind: 'missing' }>): string =>
  `${shortened(reached, LONGEST)} ${is(value)}`;

const LONGEST = 300;

function is(value: unknown): string {
  if (value === null) return 'is null';
  if (Array.isArray(value)) return `is a list of ${value.length}`;
  if (!isObject(value)) return KINDS[typeof value] ?? 'is something else';
  const names = Object.keys(value);
  return names.length === 0 ? 'is an empty object' : `has only ${listed(names)}`;
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'is text',
  number: 'is a number',
  bigint: 'is a number',
  boolean: 'is true or false',
};
