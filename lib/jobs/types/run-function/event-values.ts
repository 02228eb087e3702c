import { listed, own, shortened } from '../../../base/index.ts';
import { isObject } from '../../message/check-message.ts';

/*
 * What an event rule passes to its function: JSON in which these stand for fields of the event.
 *
 *   "$.detail.key"                                the field, which every event must have
 *   {"$path": "$.detail.size", "$default": null}  the field, or this constant if the event has no such field
 *   {"$path": "$.detail.size", "$optional": true} the field, or nothing: the variable is left out
 *   {"$constant": "$5"}                           this value as it is
 *
 * Every other text, number, list and object is itself. Only these objects may have names that begin with `$`, so none of
 * them is ever mistaken for a constant.
 */

export type ValuePath = readonly (string | number)[];

export type ValueFault = { readonly path: ValuePath; readonly expected: string };

/** A field of the event, with what stands in for it if it is missing: a list of one, or empty if nothing does. */
type Field = { readonly path: string; readonly otherwise?: readonly unknown[] | undefined };

type Reference = Field | { readonly constant: unknown } | { readonly expected: string };

const PATH = 'a path such as $.detail.object.key';
const NOTATION =
  'one of {"$path": …}, {"$path": …, "$default": …}, {"$path": …, "$optional": true} and {"$constant": …}, since a name begins with $';
const IN_LIST = 'a field with a default: an entry that is left out would move those after it';

/** What a value stands for by the notation above, or what it should; undefined if it is itself. */
function referenceIn(value: unknown): Reference | undefined {
  if (typeof value === 'string') return value.startsWith('$') ? fieldOf(value) : undefined;
  const names = isObject(value) ? Object.keys(value) : [];
  if (!isObject(value) || !names.some((name) => name.startsWith('$'))) return undefined;
  switch (names.sort().join(' ')) {
    case '$constant':
      return { constant: value['$constant'] };
    case '$path':
      return fieldOf(value['$path']);
    case '$default $path':
      return fieldOf(value['$path'], [value['$default']]);
    case '$optional $path':
      return value['$optional'] === true ? fieldOf(value['$path'], []) : { expected: NOTATION };
    default:
      return { expected: NOTATION };
  }
}

const fieldOf = (path: unknown, otherwise?: readonly unknown[]): Reference =>
  typeof path === 'string' && isEventPath(path)
    ? { path, otherwise }
    : { expected: `${PATH}; {"$constant": …} passes on a text that begins with $` };

/** What stands for a field of the event, and what is told of each fault. */
type Visit = {
  readonly field: (field: Field, at: ValuePath) => unknown;
  readonly fault: (fault: ValueFault) => void;
};

/** The value with each reference replaced by what `field` returns; a member of which that is undefined is left out. */
export function replaced(value: unknown, visit: Visit, at: ValuePath = []): unknown {
  const reference = referenceIn(value);
  if (reference !== undefined) {
    if ('path' in reference) return visit.field(reference, at);
    return 'constant' in reference ? reference.constant : visit.fault({ path: at, ...reference });
  }
  if (Array.isArray(value))
    return value.map((entry, index) => {
      const place = [...at, index];
      if (isOptional(referenceIn(entry))) visit.fault({ path: place, expected: IN_LIST });
      return replaced(entry, visit, place);
    });
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(
    ([name, each]) => [name, replaced(each, visit, [...at, name])] as const,
  );
  return Object.fromEntries(members.filter(([, each]) => each !== undefined));
}

const isOptional = (reference: Reference | undefined) =>
  reference !== undefined && 'path' in reference && reference.otherwise?.length === 0;

export function valueFaults(value: unknown): readonly ValueFault[] {
  const faults: ValueFault[] = [];
  replaced(value, { field: () => undefined, fault: (fault) => faults.push(fault) });
  return faults;
}

const STEP = /\.([A-Za-z0-9_-]+)|\[(\d+)\]|\['([^']+)'\]/g;

/**
 * Whether a text is a path to a field of an event: `$` is the whole event, `.name` and `['name']` a field of an object,
 * `[0]` an entry of a list.
 */
const isEventPath = (text: string): boolean => /^\$(\.[A-Za-z0-9_-]+|\[\d+\]|\['[^']+'\])*$/.test(text);

/** The field at a path of an event; if it is missing, how far the path leads, and what is there. Null is not missing. */
export function fieldAt(
  event: unknown,
  path: string,
): { readonly value: unknown } | { readonly there: string } {
  let value = event;
  let reached = '$';
  for (const [step, name, index, quoted] of path.matchAll(STEP)) {
    const next = index === undefined ? memberOf(value, name ?? quoted ?? '') : entryOf(value, Number(index));
    if (next === undefined) return { there: `${shortened(reached, LONGEST)} ${is(value)}` };
    value = next;
    reached += step;
  }
  return { value };
}

const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? own(value, name) : undefined);

const entryOf = (value: unknown, index: number): unknown => (Array.isArray(value) ? value[index] : undefined);

const LONGEST = 300;

/** What a value is, without the value itself, which may be secret. */
function is(value: unknown): string {
  if (value === null) return 'is null';
  if (Array.isArray(value)) return `is a list of ${value.length}`;
  if (isObject(value)) {
    const names = Object.keys(value);
    return names.length === 0 ? 'is an empty object' : `has only ${listed(names)}`;
  }
  if (typeof value === 'string') return 'is text';
  return typeof value === 'boolean' ? 'is true or false' : 'is a number';
}
